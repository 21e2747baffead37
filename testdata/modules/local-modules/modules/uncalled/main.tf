terraform {
  required_providers {
    missing = {
      source  = "acme/missing"
      version = "1.0.0"
    }
  }
}
