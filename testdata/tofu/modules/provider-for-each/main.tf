terraform {
  required_providers {
    anvil = {
      source  = "acme/anvil"
      version = "1.1.0"
    }
  }
}

locals {
  regions = toset(["north", "south"])
}

provider "anvil" {
  alias    = "by_region"
  for_each = local.regions
}

provider "beam" {
  alias    = "none"
  for_each = {}
}

resource "bolt_thread" "x" {
  for_each = local.regions
  provider = anvil.by_region[each.key]
}
