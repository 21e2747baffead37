terraform {
  required_providers {
    anvil = {
      source  = "acme/anvil"
      version = "< 2"
    }
  }
}

module "three" {
  source = "../../three"
}

resource "anchor_point" "x" {}
