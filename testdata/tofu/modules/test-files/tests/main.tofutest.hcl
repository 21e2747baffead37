provider "bolt" {}

provider "anvil" {
  version = ">= 1.0"
}

run "setup" {
  module {
    source = "./tests/setup"
  }
}
