//! Known values of functions.
