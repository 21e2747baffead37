terraform {
  required_providers {
    quill = {
      source  = "BÜCHER.example/acme/quill"
      version = ">= 0"
    }
  }
}
