# This file is maintained automatically by "tofu init".
# Manual edits may be lost in future updates.

provider "registry.example/acme/vise" {
  version = "1.0.0"
  hashes = [
    "h1:CVgb3ajiFU8FOOq4VvnvKGpxs5dBOONLwDJUHLqORI0=",
    "h1:ki7lnC2/s0PJvXRuqj2wkbKaYfyQARXvtVGblJxKkz8=",
    "h1:zJA/KsGafFI/QDCZ27xE5nUXh2UkgXAzGqYfeEHk0lI=",
    "zh:773f85c3a4c0485977f16af68dce2d0eb6fa66439edd46be386ec4541ca9de3d",
    "zh:91fb5c51144447e9f7394f4e3b11381298d4a85555451e8a7671c12dcb903a40",
    "zh:a8cb23d5a0d10e02e369c0ddf9ec14ec478103363fdad64debbe16d9c0b2442d",
    "zh:e338b75b5632cbc93d6fe65d58c0bce41601169d2e8b42043fc2e493023ab09a",
  ]
}

provider "registry.example/acme-co/vise" {
  version = "1.0.0"
  hashes = [
    "h1:QQzijhfVZVW6N7YwZwZT+fNrdTzTEz1Y9qFWQSLgfc4=",
    "h1:XKIcmhudGdcPeuvnBf5J3J5SasGHpEVcrf/EYyJNNvk=",
    "h1:h63kRjLXQxe8pPdhREBwbdbicukS+3xEUCqHtOpXuVQ=",
    "zh:56ce70a4b302500f8e605bba5f4d2e979a3c3f3445b1df030ec2cd2f4dd7046b",
    "zh:87c5997508b9a99bdcbe88f0b26af2407c0a7e1cf564bb4819d98f6000ec40ce",
    "zh:91fb5c51144447e9f7394f4e3b11381298d4a85555451e8a7671c12dcb903a40",
    "zh:c7878dcbd9bd9b99d46c71c0efb2cb1c90a0d0e9d888ae7ef2561402a76db9ec",
  ]
}

provider "registry.example:8443/acme/vise" {
  version = "1.0.0"
  hashes = [
    "h1:CVgb3ajiFU8FOOq4VvnvKGpxs5dBOONLwDJUHLqORI0=",
    "h1:ki7lnC2/s0PJvXRuqj2wkbKaYfyQARXvtVGblJxKkz8=",
    "h1:zJA/KsGafFI/QDCZ27xE5nUXh2UkgXAzGqYfeEHk0lI=",
    "zh:773f85c3a4c0485977f16af68dce2d0eb6fa66439edd46be386ec4541ca9de3d",
    "zh:91fb5c51144447e9f7394f4e3b11381298d4a85555451e8a7671c12dcb903a40",
    "zh:a8cb23d5a0d10e02e369c0ddf9ec14ec478103363fdad64debbe16d9c0b2442d",
    "zh:e338b75b5632cbc93d6fe65d58c0bce41601169d2e8b42043fc2e493023ab09a",
  ]
}

provider "registry.opentofu.org/acme/anvil" {
  version = "2.0.0"
  hashes = [
    "h1:+rnF8LO2mzY2PyAshHAVbLA9yZsdxXnmz0hW6Xid/T0=",
    "h1:JjEC5f3rfhP/ksPPErWOH4p39gv1XvCHJNka92I6sNk=",
    "h1:hqNgtUX7mSit8apPbtWLXZUs8NHd6T3MfeleYBK9kLM=",
    "zh:552eae2c0a4e45ca097ca3b54f4b88254dd571f18188fcbc2c29a462384a7ea5",
    "zh:91fb5c51144447e9f7394f4e3b11381298d4a85555451e8a7671c12dcb903a40",
    "zh:9731d512ca913c1bb837b17c28d20c168cf068dbc7ef5a047ac3bc6dc2212e98",
    "zh:d367545c4c867d19d107f7b9e23b369803257b261d274efc76094ad7d2a342d4",
  ]
}

provider "registry.opentofu.org/hashicorp/null" {
  version = "3.2.1"
  hashes = [
    "h1:JrahUBtJkdu9wNGa2tyq7FeQnfuOdiLHuwbXK8C54Ks=",
    "h1:N6P8S359+yuY3NLRkbqpbm1R3IyT132DWYt7lwLD1Jo=",
    "h1:xO/NYILJ0RBjNVoVG+8KjDFTUzm65AgO/TbVyxu1X3w=",
    "zh:4f9316ea1931f3a3a8767bde4096049342176318e95a75be7b15f9101f65dc0e",
    "zh:743e2d68b85a4dfdd3424e9b7c0af58ce9ef1d9dbc82336b02e17b6aa2ac5dcc",
    "zh:8a86bbc7048f957db7cd65fd3677d213291b5f34fcc886f73214948406c6eb2b",
    "zh:91fb5c51144447e9f7394f4e3b11381298d4a85555451e8a7671c12dcb903a40",
  ]
}

provider "bücher.example/acme/quill" {
  version = "1.0.0"
  hashes = [
    "h1:FY8CIAXVY2OVwD51U28sJ6B/Uobb3iIQyNXCmxpOU84=",
    "h1:KWRHzJ9Voli8i3uKE4KdNZnBWKTbTcQjegZ9JWUsN7w=",
    "h1:hF8esXq5f7dpFQPMtOS7Mvov4a63MFLkTdxJKcycu7g=",
    "zh:8f99ffad3bd5e8ee423974ec96d8a2f40dc273a4d78df0464c280fb2f194db86",
    "zh:91fb5c51144447e9f7394f4e3b11381298d4a85555451e8a7671c12dcb903a40",
    "zh:9bd3fb60ac8a54a63c1f023b6daf977229293f0da6d2e67c381c40e6489d9274",
    "zh:cd641a06e659a9b1060333f1b84a29f65bdf3da4ac5ba6de105bad21cd551c9a",
  ]
}

provider "zzz.example/acme/quill" {
  version = "1.0.0"
  hashes = [
    "h1:FY8CIAXVY2OVwD51U28sJ6B/Uobb3iIQyNXCmxpOU84=",
    "h1:KWRHzJ9Voli8i3uKE4KdNZnBWKTbTcQjegZ9JWUsN7w=",
    "h1:hF8esXq5f7dpFQPMtOS7Mvov4a63MFLkTdxJKcycu7g=",
    "zh:8f99ffad3bd5e8ee423974ec96d8a2f40dc273a4d78df0464c280fb2f194db86",
    "zh:91fb5c51144447e9f7394f4e3b11381298d4a85555451e8a7671c12dcb903a40",
    "zh:9bd3fb60ac8a54a63c1f023b6daf977229293f0da6d2e67c381c40e6489d9274",
    "zh:cd641a06e659a9b1060333f1b84a29f65bdf3da4ac5ba6de105bad21cd551c9a",
  ]
}
