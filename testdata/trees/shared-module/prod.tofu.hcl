# This file is maintained automatically by "tofu init".
# Manual edits may be lost in future updates.

provider "registry.opentofu.org/acme/anvil" {
  version     = "2.0.0"
  constraints = ">= 1.0.0, != 1.0.0"
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

provider "registry.opentofu.org/acme/bolt" {
  version     = "1.10.0"
  constraints = ">= 1.9.0"
  hashes = [
    "h1:gxynwUmfYJggbwV9aPhfbEKtVwD9iaHyKdiBNHM7cWY=",
    "h1:qVM7qo8+r5vWwuk9bJgVEHH+tljNRZ8rm0VzZbRtoZ8=",
    "h1:rBoQhQoqvKU4d3fvgOdWOaWiCg7Y8MUYR6H6R0BRcM0=",
    "zh:2979f2e7a9a062aa97ce684d0fe9b6425c92fd7c5dbba1b57ae9cca511181284",
    "zh:8d13ca9d21a648d7f2e4ab297dd19248f63ca8358dec14cead3d823bb626cc27",
    "zh:91fb5c51144447e9f7394f4e3b11381298d4a85555451e8a7671c12dcb903a40",
    "zh:c8f58a893f256cccc9838b52ed67fdb9cefb1ee20c4365d6ebcfc1f7eb447990",
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
