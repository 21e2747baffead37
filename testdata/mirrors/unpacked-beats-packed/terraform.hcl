# This file is maintained automatically by "terraform init".
# Manual edits may be lost in future updates.

provider "registry.terraform.io/acme/anvil" {
  version     = "1.0.0"
  constraints = "1.0.0"
  hashes = [
    "h1:/jRCL0GnTuZUnAZEvFUniFtWWZXz6IlsxZZDbRwVqtA=",
    "h1:cP/xtDcwgkant+Uhre9cIi8pD88/0kKMay3iS8+8APc=",
    "h1:wo2LDJvpEaBY9olzYpiWTUpC7EGtEXkYUTOuu88u5U4=",
  ]
}
