terraform {
  required_providers {
    forge = {
      source  = "acme/forge"
      version = ">= 5.0.0, < 6.0.0"
    }
    ledger = {
      source  = "registry.example.com/finance/ledger"
      version = "2.4.0"
    }
  }
}
