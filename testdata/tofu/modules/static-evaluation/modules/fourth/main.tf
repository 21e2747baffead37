resource "anchor_point" "x" {}
