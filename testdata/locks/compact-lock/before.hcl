provider "registry.terraform.io/acme/bolt" { version = "1.9.0" }
provider "registry.terraform.io/acme/anvil" {
  hashes = [ "{h1:acme/anvil:1.0.0:linux_amd64}" ]
version="1.0.${0}"
}