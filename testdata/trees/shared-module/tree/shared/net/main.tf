terraform {
  required_providers {
    anvil = {
      source  = "acme/anvil"
      version = "!= 1.0.0"
    }
  }
}

module "dns" {
  source = "../dns"
}
