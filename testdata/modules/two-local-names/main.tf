terraform {
  required_providers {
    first = {
      source  = "acme/anvil"
      version = ">= 1.0"
    }
    second = {
      source  = "acme/anvil"
      version = "!= 2.0.0, < 3"
    }
  }
}
