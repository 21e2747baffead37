# Kept by hand.


provider "registry.terraform.io/acme/anvil" {
  version     = "1.0.0"
  constraints = "1.0.0"

  // Ours.
  hashes = [
    "{h1:acme/anvil:1.0.0:linux_amd64}",
  ]
}
/* the end */
