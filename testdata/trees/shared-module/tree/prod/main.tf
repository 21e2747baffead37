terraform {
  required_providers {
    anvil = {
      source  = "acme/anvil"
      version = ">= 1.0"
    }
  }
}

module "net" {
  source = "../shared/net"
}
