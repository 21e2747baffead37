# This file is maintained automatically by "terraform init".
# Manual edits may be lost in future updates.

provider "registry.terraform.io/acme/anvil" {
  version     = "1.0.0"
  hashes = [
    "{h1:acme/anvil:1.0.0:linux_amd64}",
  ]
}
