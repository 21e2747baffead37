ephemeral "anchor_key" "x" {
  provider = bolt
}

resource "beam_span" "x" {
  provider = anvil
}

provider "chain" {
  version = ">= 1.0"
}
