terraform {
  required_providers {
    anvil = {
      source  = "acme/anvil"
      version = "~> 1.0"
    }
    bolt = {
      source  = "acme/bolt"
      version = "1.9.0"
    }
  }
}
