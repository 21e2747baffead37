# This file is maintained automatically by "tofu init".
# Manual edits may be lost in future updates.

provider "registry.opentofu.org/acme/anvil" {
  version     = "1.1.0"
  constraints = "~> 1.0"
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

provider "registry.opentofu.org/hashicorp/bolt" {
  version = "1.0.0"
  hashes = [
    "h1:+qA3O5nmFhewLJJGip0CoY32M8LeM6WerAbw+JYLjZc=",
    "h1:9OMaJQfWcjr8XAyf0eiJet7hlX2aQDDXIP7Co+MXALA=",
    "h1:HagjvV0nEgv5fUI4FyLhlbK4ZjUcpche5j0EL6hft18=",
    "zh:41ad3c7c598180695b5b37cf1ad44cfd56174d4bcc34ffac410bfa4a3abd5444",
    "zh:5c20a6ed98c35b95d241ff6580f8a8cea3b12b4dfcec9835dd4a7122c68dd847",
    "zh:91fb5c51144447e9f7394f4e3b11381298d4a85555451e8a7671c12dcb903a40",
    "zh:fbfc111f03eb6de17e5dd0c66b61226a42ff726c65d63b1e73b3aaa08649263f",
  ]
}

provider "registry.opentofu.org/hashicorp/chain" {
  version     = "1.0.0"
  constraints = ">= 1.0.0"
  hashes = [
    "h1:/DCw/TJWsdhiUX1S+J4z7gOVFTAUIUPmvByFkwacGZc=",
    "h1:ApV/CeFL84CxS+SLr937dHjn6e0fS+0KTQsPAcYzytk=",
    "h1:zlfdbPchChwkRr18Sf6NA5q7dKeDQjddmjpmd7e8iUM=",
    "zh:5a6d78327cde6e60db3be1ebede93feb60df00956b5eb9e0887e12a48317f7b1",
    "zh:7e293eac85f154df8c8ace9497b914a4e4b918bc7f41b368ab1ecf16aa751ae2",
    "zh:91fb5c51144447e9f7394f4e3b11381298d4a85555451e8a7671c12dcb903a40",
    "zh:e616d34d45ca9faf6e98881efdc5a0b90f3eff2d426f6810b17a93e2e2933e70",
  ]
}
