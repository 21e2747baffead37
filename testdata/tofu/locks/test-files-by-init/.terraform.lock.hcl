# This file is maintained automatically by "tofu init".
# Manual edits may be lost in future updates.

provider "registry.opentofu.org/acme/anvil" {
  version     = "1.0.0"
  constraints = ">= 1.0.0, 1.0.0"
  hashes = [
    "h1:WqzVcvrOry3c5nFbrou6qdDy1mQc830Kyn6M0sQBphQ=",
    "zh:4eeebc41c46896cdfc1a8e13717a58a72804eb42f6d2bcb6d8780b98dd68560c",
    "zh:91fb5c51144447e9f7394f4e3b11381298d4a85555451e8a7671c12dcb903a40",
    "zh:d7cd48af6fd7267181676ec1ccaed28b661da0502038e3d586cfc0043ae6b691",
    "zh:eed9357cbafc4fb119de0c1ec1ee867c5ba2bbfb2fe6e274d0c1104397b169cc",
  ]
}

provider "registry.opentofu.org/hashicorp/beam" {
  version = "1.0.0"
  hashes = [
    "h1:AMHs/lvqnlc7AotqRuXnQf9scWGZLzL+ghSXNEfqDBQ=",
    "zh:1d496301dc9ab99f5e9e5df9fe1d3fbefa8d0da5a3a4b435f0de979607b0562f",
    "zh:5e0d2d20023b7e20987adfa79b379ba5063d68cf8fabb968b897541f85e00686",
    "zh:91fb5c51144447e9f7394f4e3b11381298d4a85555451e8a7671c12dcb903a40",
    "zh:94eec0ce58240c238d0ef2acfb50b6295a90902aedc1d5ee8157ebb231f29d9a",
  ]
}

provider "registry.opentofu.org/hashicorp/bolt" {
  version = "1.0.0"
  hashes = [
    "h1:9OMaJQfWcjr8XAyf0eiJet7hlX2aQDDXIP7Co+MXALA=",
    "zh:41ad3c7c598180695b5b37cf1ad44cfd56174d4bcc34ffac410bfa4a3abd5444",
    "zh:5c20a6ed98c35b95d241ff6580f8a8cea3b12b4dfcec9835dd4a7122c68dd847",
    "zh:91fb5c51144447e9f7394f4e3b11381298d4a85555451e8a7671c12dcb903a40",
    "zh:fbfc111f03eb6de17e5dd0c66b61226a42ff726c65d63b1e73b3aaa08649263f",
  ]
}
