terraform {
  required_providers {
    z = {
      source  = "zzz.example/acme/quill"
    }
    b = {
      source  = "bücher.example/acme/quill"
    }
    vise = {
      source  = "registry.example:8443/acme/vise"
    }
    v = {
      source  = "registry.example/acme/vise"
    }
    w = {
      source  = "registry.example/acme-co/vise"
    }
    anvil = {
      source  = "acme/anvil"
    }
    null = {
      source  = "hashicorp/null"
    }
  }
}
