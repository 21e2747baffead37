terraform {
  required_providers {
    anvil = {
      source  = "Registry.Terraform.IO:443/Acme/ANVIL"
      version = "1.0.0"
    }
  }
}
