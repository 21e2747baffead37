# This file is maintained automatically by "tofu init".
# Manual edits may be lost in future updates.

provider "registry.opentofu.org/hashicorp/null" {
  version     = "3.2.1"
  constraints = "~> 3.2"
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

provider "registry.terraform.io/hashicorp/null" {
  version     = "3.1.1"
  constraints = ">= 3.0.0"
  hashes = [
    "h1:1GhRP6j1teLHsHZ08SS0DXNjtZQxVKYvkCorl0L4MCo=",
    "zh:763ed4462b981c283fe144f4e02a14148b7de0c3573b63c5f0f43df810da5bc9",
  ]
}
