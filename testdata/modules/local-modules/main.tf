terraform {
  required_providers {
    anvil = {
      source  = "acme/anvil"
      version = ">= 1.0"
    }
  }
}

module "blue" {
  source = "./modules/queue"
}

module "green" {
  source = "./modules/queue"
}
