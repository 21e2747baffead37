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

provider "registry.opentofu.org/acme/bolt" {
  version     = "1.10.0"
  constraints = "~> 1.0"
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

provider "registry.opentofu.org/hashicorp/anchor" {
  version = "1.0.0"
  hashes = [
    "h1:+ND5XjsG24KyyCdQ8SFWpcL17rkIMLMbFYKUEo3nc9Q=",
    "h1:E+sqi2KjXvBtYrUi9TiRyNQzeFiRI6hN0uG7JdTimfg=",
    "h1:aIWa6Iz4Yt4FdObvPgi+dYjbYVjymtN4zjqorygFvZ0=",
    "zh:0756b1b1b98cf2fe8101cda063dad76f8bb359383266a8c5c268da1f5d26fcd1",
    "zh:48592d9949903570656e44a83ebfe8823de73091faa3b251d12519fffc821d54",
    "zh:7c04f67be4750f87383db167bb4bf272924b310bcc7819793bd1a43e03d33190",
    "zh:91fb5c51144447e9f7394f4e3b11381298d4a85555451e8a7671c12dcb903a40",
  ]
}

provider "registry.opentofu.org/hashicorp/beam" {
  version = "1.0.0"
  hashes = [
    "h1:3iKQz/8KqQ6btoHNBQOyDueoR3urkh6+WLUc96FRIBM=",
    "h1:AMHs/lvqnlc7AotqRuXnQf9scWGZLzL+ghSXNEfqDBQ=",
    "h1:s7u4Y2qtPXPQ1z4SZVsGgzdu1zlBJVd5TS9HjaoEHDI=",
    "zh:1d496301dc9ab99f5e9e5df9fe1d3fbefa8d0da5a3a4b435f0de979607b0562f",
    "zh:5e0d2d20023b7e20987adfa79b379ba5063d68cf8fabb968b897541f85e00686",
    "zh:91fb5c51144447e9f7394f4e3b11381298d4a85555451e8a7671c12dcb903a40",
    "zh:94eec0ce58240c238d0ef2acfb50b6295a90902aedc1d5ee8157ebb231f29d9a",
  ]
}
