terraform {
  required_providers {
    anvil = {
      source  = "acme/anvil"
      version = "~>1, >=1.0,!= 1.0.0 , >= 1.0.0"
    }
    bolt = {
      source  = "acme/bolt"
      version = "~> 1.9"
    }
    null = {
      source  = "hashicorp/null"
      version = "~> 3"
    }
  }
}
