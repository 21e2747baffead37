//! The use case: requirements and existing locks become new locks.
