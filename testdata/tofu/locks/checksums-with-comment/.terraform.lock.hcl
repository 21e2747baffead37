# This file is maintained automatically by "tofu init".
# Manual edits may be lost in future updates.

provider "registry.opentofu.org/acme/ledger" {
  version = "1.0.0"
  hashes = [
    "h1:AQ941oEAx+e2Uz1wE4jEyqhU3nQQFufNVmY/0lmjVjE=",
    "h1:EHl8LdzSx1CbGfOgEdOmFNkRwuhibf5GQBG8mTAIjzk=",
    "h1:y7Rh3TLa/uzK1rcTp9V/cxmcgBa0k7JeDuQU48O5e2s=",
    "zh:9c5a68f0e16ad4ee825f181b3573450ddc4f0827b5e4f006964b302997429291",
    "zh:a68af12915807ed5eec57b3588c3c2aa70d3c24fdc228cfaf5eab5dd1c560d31",
    "zh:e680c75f999b34eee6810d61cea61d58be5615e2857a14c39bab9cdd2fe7fec3",
  ]
}
