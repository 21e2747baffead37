# This file is maintained automatically by "terraform init".
# Manual edits may be lost in future updates.

provider "registry.terraform.io/acme/bolt" {
  version = "1.9.0"
  hashes = [
    "{h1:acme/bolt:1.9.0:linux_amd64}",
  ]
}
