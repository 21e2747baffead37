# This file is maintained automatically by "tofu init".
# Manual edits may be lost in future updates.

provider "registry.opentofu.org/acme/anvil" {
  version     = "1.1.0"
  constraints = ">= 1.0.0, < 2.0.0"
  hashes = [
    "h1:Sip8aPIIhsTz6SOlOH0S/b935yNfsWgodm2oSFpl8o0=",
    "h1:iTzCl4njBiweihEVbEeSgR6ZZ71CVGPfdZEcgPd19+U=",
    "h1:ze9VOoYRegvJDxBIWaq6pLdBthUa3nPE7HtCCiPj0rw=",
    "zh:3c6af9e8a313af6124b8c6680f297e16d3cc04d56f2da5b04ba7f00eb44a99b8",
    "zh:47e43e8438c2bcadc8afd27d1d8f601479ab86061ebcf23dbbf18f008f1be382",
    "zh:91fb5c51144447e9f7394f4e3b11381298d4a85555451e8a7671c12dcb903a40",
    "zh:a16cab637f91e5884a70f2e0db5f8e9dc501a6d961bf319bace09746dbe20413",
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

provider "registry.opentofu.org/hashicorp/null" {
  version     = "3.1.1"
  constraints = "~> 3.0, < 3.2.0"
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
