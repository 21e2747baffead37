# This file is maintained automatically by "terraform init".
# Manual edits may be lost in future updates.

provider "registry.terraform.io/acme/anvil" {
  version     = "1.0.0"
  constraints = "1.0.0"
  hashes = [
    "h1:2fZNQgZB6nRmvmqC4gyFMBJVBppkytOfO/uROX8yADs=",
    "h1:WqzVcvrOry3c5nFbrou6qdDy1mQc830Kyn6M0sQBphQ=",
    "h1:w/oqYaMP+xB09xzQQrUIDuZDdbB6S7zt16Io0d5cVlY=",
  ]
}
