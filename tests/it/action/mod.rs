//! Runs the scripts of `action.yml` and of the release workflow as a GitHub runner runs them.

mod install;
mod pack;
mod run;
mod workflow;
