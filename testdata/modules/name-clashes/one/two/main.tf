terraform {
  required_providers {
    null = {
      source  = "acme/bolt"
      version = "~> 1.0"
    }
  }
}

module "three" {
  source = "../../three"
}

resource "null_thread" "x" {}
