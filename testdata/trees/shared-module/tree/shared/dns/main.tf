module "zone" {
  source = "../zone"
}

resource "null_resource" "x" {}
