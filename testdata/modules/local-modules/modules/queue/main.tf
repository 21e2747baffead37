terraform {
  required_providers {
    hammer = {
      source  = "acme/anvil"
      version = "< 2.0.0"
    }
  }
}

module "store" {
  source = "../store"
}
