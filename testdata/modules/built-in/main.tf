terraform {
  required_providers {
    terraform = {
      source  = "terraform.io/builtin/terraform"
    }
    anvil = {
      source  = "acme/anvil"
      version = "2.0.0"
    }
  }
}

resource "terraform_data" "x" {}
