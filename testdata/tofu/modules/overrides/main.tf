terraform {
  required_providers {
    anvil = {
      source  = "acme/anvil"
      version = "~> 1.0"
    }
  }
}

ephemeral "anchor_key" "x" {}

resource "beam_span" "x" {}

provider "chain" {
  version = "1.0.0"
}
