terraform {
  required_providers {
    bolt = {
      source  = "acme/bolt"
    }
  }
}
