terraform {
  required_providers {
    anvil = {
      source  = "hashicorp/null"
      version = "< 3.2.0"
    }
  }
}

module "two" {
  source = "./two"
}

resource "anvil_resource" "x" {}
