terraform {
  required_providers {
    forge = {
      source  = "acme/forge"
      version = "5.2.0"
    }
    null = {
      source  = "hashicorp/null"
      version = "3.2.1"
    }
  }
}
