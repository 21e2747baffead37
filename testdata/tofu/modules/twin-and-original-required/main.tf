terraform {
  required_providers {
    null = {
      source  = "registry.terraform.io/hashicorp/null"
      version = "~> 3.0"
    }
  }
}

provider "beam" {}

module "m" {
  source = "./m"
}
