# This file is maintained automatically by "terraform init".
# Manual edits may be lost in future updates.

provider "registry.terraform.io/acme/bolt" {
  version     = "1.10.0"
  constraints = ">= 1.0.0"
  hashes = [
    "h1:gxynwUmfYJggbwV9aPhfbEKtVwD9iaHyKdiBNHM7cWY=",
    "h1:qVM7qo8+r5vWwuk9bJgVEHH+tljNRZ8rm0VzZbRtoZ8=",
    "h1:rBoQhQoqvKU4d3fvgOdWOaWiCg7Y8MUYR6H6R0BRcM0=",
  ]
}
