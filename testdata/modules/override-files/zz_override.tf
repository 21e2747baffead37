terraform {
  required_providers {
    bolt = {
      source  = "hashicorp/null"
      version = "3.1.1"
    }
  }
}
