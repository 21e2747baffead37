//! Runs the scripts of `action.yml` and of the release workflow the way a GitHub runner does.

mod install;
mod pack;
mod run;
mod workflow;
