terraform {
  required_providers {
    anvil = {
      source  = "acme/anvil"
      version = "~> 1.0"
    }
    screw = {
      source  = "acme/bolt"
      version = "< 1.10"
    }
  }
}

module "net" {
  source = "../shared/net"
}

module "zone" {
  source = "../shared/zone"
}
