terraform {
  required_providers {
    missing = {
      source  = "acme/missing"
    }
  }
}
