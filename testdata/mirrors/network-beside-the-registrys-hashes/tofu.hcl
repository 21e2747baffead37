# This file is maintained automatically by "tofu init".
# Manual edits may be lost in future updates.

provider "registry.opentofu.org/acme/anvil" {
  version     = "1.0.0"
  constraints = "1.0.0"
  hashes = [
    "h1:2fZNQgZB6nRmvmqC4gyFMBJVBppkytOfO/uROX8yADs=",
    "h1:WqzVcvrOry3c5nFbrou6qdDy1mQc830Kyn6M0sQBphQ=",
    "h1:w/oqYaMP+xB09xzQQrUIDuZDdbB6S7zt16Io0d5cVlY=",
    "zh:4eeebc41c46896cdfc1a8e13717a58a72804eb42f6d2bcb6d8780b98dd68560c",
    "zh:91fb5c51144447e9f7394f4e3b11381298d4a85555451e8a7671c12dcb903a40",
    "zh:d7cd48af6fd7267181676ec1ccaed28b661da0502038e3d586cfc0043ae6b691",
    "zh:eed9357cbafc4fb119de0c1ec1ee867c5ba2bbfb2fe6e274d0c1104397b169cc",
  ]
}
