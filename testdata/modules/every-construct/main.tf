terraform {
  required_providers {
    rivet = {
      source = "acme/rivet"
    }
  }

  provider_meta "rivet" {
    team = "smiths"
  }
}

variable "name" {
  type    = string
  default = "x"
}

locals {
  name = var.name
}

resource "anvil_blow" "x" {
  name = local.name
}

data "bolt_thread" "x" {}

check "health" {
  data "beam_load" "x" {}

  assert {
    condition     = data.beam_load.x.kilograms < 100
    error_message = "It bends."
  }
}

ephemeral "chain_link" "x" {}

provider "anchor" {
  alias = "second"
}

import {
  to = null_resource.found
  id = "x"
}

moved {
  from = tofu_cube.old
  to   = anvil_blow.x
}

removed {
  from = tofu_cube.gone

  lifecycle {
    destroy = false
  }
}

module "child" {
  source = "./child"
  count  = 0

  providers = {
    hammer = rivet
  }
}

output "name" {
  value = local.name
}
