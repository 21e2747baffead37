//! What the configuration files of a root module ask for.
