terraform {
  required_providers {
    hammer = {
      source = "acme/anvil"
    }
  }
}

resource "hammer_blow" "x" {}

resource "bolt_thread" "x" {
  provider = hammer
}

data "null_data_source" "x" {}

resource "terraform_data" "x" {}
