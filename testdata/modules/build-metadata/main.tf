terraform {
  required_providers {
    rivet = {
      source  = "acme/rivet"
      version = "1.0.0+build.7"
    }
  }
}
