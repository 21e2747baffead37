terraform {
  required_providers {
    anvil = {
      source  = "acme/anvil"
      version = ">= 1.0.0-alpha, < 2.1.0-rc.1"
    }
  }
}
