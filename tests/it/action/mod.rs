//! What runs where users meet tflock: the scripts of `action.yml` and of the release workflow, run as a runner runs them.

mod install;
mod pack;
mod run;
mod workflow;
