terraform {
  required_providers {
    bolt = {
      source  = "acme/anvil"
      version = "< 2.0"
    }
  }
}

resource "bolt_blow" "x" {}
