locals {
  nothing = null
}

provider "anvil" {
  alias   = "second"
  version = "< 2.0"
}
