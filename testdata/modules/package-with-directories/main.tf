terraform {
  required_providers {
    crate = {
      source  = "acme/crate"
    }
  }
}
