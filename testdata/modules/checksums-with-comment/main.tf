terraform {
  required_providers {
    ledger = {
      source  = "acme/ledger"
    }
  }
}
