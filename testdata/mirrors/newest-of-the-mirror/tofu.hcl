# This file is maintained automatically by "tofu init".
# Manual edits may be lost in future updates.

provider "registry.opentofu.org/acme/bolt" {
  version     = "1.10.0"
  constraints = ">= 1.0.0"
  hashes = [
    "h1:gxynwUmfYJggbwV9aPhfbEKtVwD9iaHyKdiBNHM7cWY=",
    "h1:qVM7qo8+r5vWwuk9bJgVEHH+tljNRZ8rm0VzZbRtoZ8=",
    "h1:rBoQhQoqvKU4d3fvgOdWOaWiCg7Y8MUYR6H6R0BRcM0=",
    "zh:2979f2e7a9a062aa97ce684d0fe9b6425c92fd7c5dbba1b57ae9cca511181284",
    "zh:8d13ca9d21a648d7f2e4ab297dd19248f63ca8358dec14cead3d823bb626cc27",
    "zh:c8f58a893f256cccc9838b52ed67fdb9cefb1ee20c4365d6ebcfc1f7eb447990",
  ]
}
