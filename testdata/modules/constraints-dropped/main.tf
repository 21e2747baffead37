terraform {
  required_providers {
    anvil = {
      source  = "acme/anvil"
    }
  }
}
