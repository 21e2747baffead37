terraform {
  required_providers {
    anvil = "~> 1.0"
  }
}
