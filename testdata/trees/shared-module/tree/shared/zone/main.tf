terraform {
  required_providers {
    bolt = {
      source  = "acme/bolt"
      version = ">= 1.9.0"
    }
  }
}
