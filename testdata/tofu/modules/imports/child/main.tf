terraform {
  required_providers {
    beam = {
      source  = "acme/rivet"
      version = "1.0.0"
    }
  }
}

resource "beam_span" "x" {}
