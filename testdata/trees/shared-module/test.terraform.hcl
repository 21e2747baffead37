# This file is maintained automatically by "terraform init".
# Manual edits may be lost in future updates.

provider "registry.terraform.io/acme/anvil" {
  version     = "1.1.0"
  constraints = "~> 1.0, != 1.0.0"
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

provider "registry.terraform.io/acme/bolt" {
  version     = "1.9.0"
  constraints = ">= 1.9.0, < 1.10.0"
  hashes = [
    "h1:/NUAqUJTKpK2nxQFrH5KFzSvbhm03+DFoHhzLjZpnaw=",
    "h1:UotWgKoZBy2iFbgOHCTNk7xrWfwaMmxnYFYlKe1ONlc=",
    "h1:saCM1tiFyORGaz5VGbeW/bWGVRSYJfp2V0jZsASZ+tA=",
    "zh:67066448ce9e6c017e25aaf4acb4321123c8cefa63b5a6dea49c27ab3db98503",
    "zh:91fb5c51144447e9f7394f4e3b11381298d4a85555451e8a7671c12dcb903a40",
    "zh:eae9962e9a32b6356450d78df451add2d2f15857b2412cedc8bd453b31cc9b0d",
    "zh:f2c7b854286774f6fe57f35e833211003f7dfa277b4824add5e4c4627c5296ea",
  ]
}

provider "registry.terraform.io/hashicorp/null" {
  version = "3.2.1"
  hashes = [
    "h1:JrahUBtJkdu9wNGa2tyq7FeQnfuOdiLHuwbXK8C54Ks=",
    "h1:N6P8S359+yuY3NLRkbqpbm1R3IyT132DWYt7lwLD1Jo=",
    "h1:xO/NYILJ0RBjNVoVG+8KjDFTUzm65AgO/TbVyxu1X3w=",
    "zh:4f9316ea1931f3a3a8767bde4096049342176318e95a75be7b15f9101f65dc0e",
    "zh:743e2d68b85a4dfdd3424e9b7c0af58ce9ef1d9dbc82336b02e17b6aa2ac5dcc",
    "zh:8a86bbc7048f957db7cd65fd3677d213291b5f34fcc886f73214948406c6eb2b",
    "zh:91fb5c51144447e9f7394f4e3b11381298d4a85555451e8a7671c12dcb903a40",
  ]
}
