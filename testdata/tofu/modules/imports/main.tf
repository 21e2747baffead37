terraform {
  required_providers {
    anvil = {
      source  = "acme/anvil"
      version = "< 2"
    }
  }
}

resource "anchor_point" "here" {
  provider = anvil
}

import {
  provider = anvil
  to       = anchor_point.here
  id       = "1"
}

module "child" {
  source = "./child"
}

import {
  to = module.child.beam_span.x
  id = "2"
}

import {
  to       = chain_link.absent
  provider = bolt
  id       = "3"
}

import {
  to = data.tofu_thing.x
  id = "4"
}
