terraform {
  required_providers {
    anvil = {
      "source"  : "acme/${true ? "anvil" : "bolt"}"
      (("version")) = <<-EOT
        >= ${1}.0,
        < 2.0
      EOT
    }
    null = { source = "hashicorp/bolt", source = "hashicorp/null", version = 3 > 2 ? "3.1.1" : "0.0.1" }
  }
}
