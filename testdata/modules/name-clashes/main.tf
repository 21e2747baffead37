terraform {
  required_providers {
    anvil = {
      source  = "acme/anvil"
      version = ">= 1.0"
    }
    null = "~> 3.0"
  }
}

module "one" {
  source = "./one"
}

resource "anvil_blow" "x" {}
