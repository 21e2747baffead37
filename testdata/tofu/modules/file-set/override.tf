terraform {
  required_providers {
    anvil = {
      source  = "acme/anvil"
      version = "9.9.9"
    }
  }
}
