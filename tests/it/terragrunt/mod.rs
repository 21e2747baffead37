//! Terragrunt units in the commands of tflock. The recorded cases are in `conformance::terragrunt`.

mod environment;
