terraform {
  required_providers {
    ledger = {
      source  = "registry.example.com/finance/ledger"
      version = "~> 2.0"
    }
  }
}
