terraform {
  required_providers {
    anvil = {
      source = "acme/anvil"
    }
  }
}

module "queue" {
  source = "../modules/queue"
}
