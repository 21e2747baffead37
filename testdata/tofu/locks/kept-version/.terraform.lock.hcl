# This file is maintained automatically by "tofu init".
# Manual edits may be lost in future updates.

provider "registry.opentofu.org/acme/anvil" {
  version     = "2.0.0"
  constraints = ">= 1.0.0"
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

provider "registry.terraform.io/acme/anvil" {
  version     = "1.0.0"
  constraints = ">= 1.0.0"
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
