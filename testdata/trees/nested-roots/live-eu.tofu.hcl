# This file is maintained automatically by "tofu init".
# Manual edits may be lost in future updates.

provider "registry.opentofu.org/acme/anvil" {
  version     = "1.1.0"
  constraints = "< 2.0.0"
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

provider "registry.opentofu.org/hashicorp/anvil" {
  version = "1.0.0"
  hashes = [
    "h1:VkWRM1Hl9OtVxmj9yCh1tCRLkhOEu4GkkghMLMSIDNI=",
    "h1:gMv7drQxElIAm7CeSpKpPlyhbjGutP/Q827mIJB1glw=",
    "h1:r82iFp14gxSz/5PdMUbfb39e6UJib/6DQ6I7YQXtSIQ=",
    "zh:5dc02f1e6cd7dedff4235ee2ac10cfc483d93eb27202670866d01ddede7db612",
    "zh:5ff208c5433b3799ca3c1cd98f9c14a423f00d57417b103854c59ce551580c33",
    "zh:91fb5c51144447e9f7394f4e3b11381298d4a85555451e8a7671c12dcb903a40",
    "zh:ac7d7e6ba522f58033c06f7a954d1731b31329024f732a108689c195c27a5dc1",
  ]
}
