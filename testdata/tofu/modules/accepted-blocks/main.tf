terraform {
  required_version = ">= 99 and then some"

  encryption {
    key_provider "pbkdf2" "k" {
      passphrase = var.passphrase
    }
  }

  language = nonsense
  experiments = [nothing]

  required_providers {
    anvil = {
      source = "acme/anvil"
    }
  }
}

language {
  compatible_with {
    opentofu = ">= 1.0"
  }
}

variable "passphrase" {
  type       = string
  deprecated = "say nothing"
  const      = false
}

resource "anvil_blow" "x" {
  lifecycle {
    enabled         = true
    prevent_destroy = var.passphrase != ""
  }
}
