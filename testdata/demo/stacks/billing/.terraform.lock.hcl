# This file is maintained automatically by "terraform init".
# Manual edits may be lost in future updates.

provider "registry.example.com/finance/ledger" {
  version     = "2.3.1"
  constraints = "2.3.1"
  hashes = [
    "{h1:finance/ledger:2.3.1:linux_amd64}",
    "{zh:finance/ledger:2.3.1:linux_amd64}",
  ]
}

provider "registry.terraform.io/acme/forge" {
  version     = "5.2.0"
  constraints = ">= 5.0.0, < 6.0.0"
  hashes = [
    "{h1:acme/forge:5.2.0:linux_amd64}",
    "{zh:acme/forge:5.2.0:linux_amd64}",
  ]
}
