resource "beam_span" "x" {}
