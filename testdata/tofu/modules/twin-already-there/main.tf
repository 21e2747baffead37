terraform {
  required_providers {
    null = "~> 3.2"
  }
}
