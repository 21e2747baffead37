# This file is maintained automatically by "tofu init".
# Manual edits may be lost in future updates.

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
