terraform {
  required_providers {
    vise = {
      source  = "registry.example:8443/acme/vise"
    }
  }
}
