terraform {
  required_providers {
    stamp = {
      source  = "acme/stamp"
      version = "1.0.0+build.7"
    }
  }
}
