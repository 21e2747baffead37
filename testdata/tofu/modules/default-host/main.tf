terraform {
  required_providers {
    anvil = {
      source  = "acme/anvil"
      version = ">= 1.0"
    }
    theirs = {
      source  = "registry.terraform.io/hashicorp/null"
      version = "3.1.1"
    }
  }
}

resource "null_resource" "x" {}

resource "theirs_resource" "x" {
  provider = theirs
}
