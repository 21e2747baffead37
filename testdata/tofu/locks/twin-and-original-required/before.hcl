# This file is maintained automatically by "terraform init".
# Manual edits may be lost in future updates.

provider "registry.terraform.io/hashicorp/null" {
  version     = "3.1.1"
  constraints = ">= 3.0.0"
  hashes = [
    "{h1:hashicorp/null:3.1.1:linux_amd64}",
    "{zh:hashicorp/null:3.1.1:linux_amd64}",
  ]
}
