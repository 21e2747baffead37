# This file is maintained automatically by "tofu init".
# Manual edits may be lost in future updates.

provider "registry.opentofu.org/acme/anvil" {
  version     = "1.1.0"
  constraints = "~> 1.0"
  hashes = [
    "h1:Sip8aPIIhsTz6SOlOH0S/b935yNfsWgodm2oSFpl8o0=",
    "h1:iTzCl4njBiweihEVbEeSgR6ZZ71CVGPfdZEcgPd19+U=",
    "h1:ze9VOoYRegvJDxBIWaq6pLdBthUa3nPE7HtCCiPj0rw=",
  ]
}

provider "registry.opentofu.org/acme/bolt" {
  version = "1.10.0"
  hashes = [
    "h1:gxynwUmfYJggbwV9aPhfbEKtVwD9iaHyKdiBNHM7cWY=",
    "h1:qVM7qo8+r5vWwuk9bJgVEHH+tljNRZ8rm0VzZbRtoZ8=",
    "h1:rBoQhQoqvKU4d3fvgOdWOaWiCg7Y8MUYR6H6R0BRcM0=",
  ]
}

provider "bücher.example/acme/quill" {
  version = "1.0.0"
  hashes = [
    "h1:FY8CIAXVY2OVwD51U28sJ6B/Uobb3iIQyNXCmxpOU84=",
    "h1:KWRHzJ9Voli8i3uKE4KdNZnBWKTbTcQjegZ9JWUsN7w=",
    "h1:hF8esXq5f7dpFQPMtOS7Mvov4a63MFLkTdxJKcycu7g=",
  ]
}
