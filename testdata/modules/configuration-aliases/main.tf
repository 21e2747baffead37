terraform {
  required_providers {
    anvil = {
      source                = "acme/anvil"
      version               = "1.1.0"
      configuration_aliases = [anvil.primary, anvil.secondary]
    }
  }
}
