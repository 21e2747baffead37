terraform {
  required_providers {
    old = {
      source = "-/old"
    }
    core = {
      source  = "opentofu.org/builtin/core"
      version = "9.9.9"
    }
    terraform = {
      source = "terraform.io/builtin/terraform"
    }
    anvil = {
      source  = "acme/anvil"
      version = "1.0.0"
    }
  }
}

data "terraform_remote_state" "x" {
  backend = "local"
}

resource "terraform_data" "x" {}

resource "tofu_thing" "x" {}
