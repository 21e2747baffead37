resource "nowhere_to_be_found" "x" {}
