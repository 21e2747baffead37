terraform {
  required_providers {
    anvil = {
      source  = "acme/anvil"
      version = "< 2.0"
    }
  }
}
