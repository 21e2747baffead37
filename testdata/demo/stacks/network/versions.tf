terraform {
  required_providers {
    forge = {
      source  = "acme/forge"
      version = "~> 5.2"
    }
    null = {
      source  = "hashicorp/null"
      version = ">= 3.1.0"
    }
  }
}
