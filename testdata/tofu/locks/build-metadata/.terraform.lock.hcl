# This file is maintained automatically by "tofu init".
# Manual edits may be lost in future updates.

provider "registry.opentofu.org/acme/stamp" {
  version     = "1.0.0+build.7"
  constraints = "1.0.0+build.7"
  hashes = [
    "h1:YX84MgBPlYwZfWLo+tJsIya/BWrk+2quHUgL6mF3vMQ=",
    "h1:e31YAm1YwRbPTe4ibKNQMw0ZkzeEs/QaLa3sQTk+pNM=",
    "h1:j+oSryZBOXpoqM1vmzbUO5P3kyQp4My0WimDKrsUIfc=",
    "zh:91fb5c51144447e9f7394f4e3b11381298d4a85555451e8a7671c12dcb903a40",
    "zh:92594c36b667be2752fd7509a3168b55cf1bf77ee5c0e79d75cb8b58e8ad8287",
    "zh:b9fcc2a02db82c13b613be503ccbf81a711eaa47f6725c2525e8274610deea9b",
    "zh:d7b8f193ff6d77834fa1d241ad45f5fdabbfd1641b70bbca9825c757d33c9e79",
  ]
}
