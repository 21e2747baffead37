# This file is maintained automatically by "tofu init".
# Manual edits may be lost in future updates.

provider "registry.opentofu.org/hashicorp/null" {
  version = "3.1.1"
  hashes = [
    "h1:1GhRP6j1teLHsHZ08SS0DXNjtZQxVKYvkCorl0L4MCo=",
    "h1:AmAUWsETH4ye+RvJLkIU9y+CysspuPcMz04t51tCc0Q=",
    "h1:cmpo8D1DcIlxHlL6IS+o+QEB8JR2NbeVxYbxItpH51Q=",
    "zh:763ed4462b981c283fe144f4e02a14148b7de0c3573b63c5f0f43df810da5bc9",
    "zh:91fb5c51144447e9f7394f4e3b11381298d4a85555451e8a7671c12dcb903a40",
    "zh:e7a7026bf52ff9de5af7fea938286cac84189e6e18ac97ff32c2a4c7b1332be7",
    "zh:f82d17f47a7387fafa652f17fe9e3be31d789c0b84d51f5d9846d6b0b0471cdc",
  ]
}

provider "registry.terraform.io/hashicorp/null" {
  version     = "3.1.1"
  constraints = ">= 3.0.0"
  hashes = [
    "h1:1GhRP6j1teLHsHZ08SS0DXNjtZQxVKYvkCorl0L4MCo=",
    "zh:763ed4462b981c283fe144f4e02a14148b7de0c3573b63c5f0f43df810da5bc9",
  ]
}
