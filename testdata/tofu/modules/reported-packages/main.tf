terraform {
  required_providers {
    depot = {
      source = "acme/depot"
    }
    yard = {
      source = "registry.example/acme/yard"
    }
  }
}
