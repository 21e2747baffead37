# This file is maintained automatically by "tofu init".
# Manual edits may be lost in future updates.

provider "registry.opentofu.org/acme/anvil" {
  version     = "1.0.0"
  constraints = "1.0.0"
  hashes = [
    "h1:WqzVcvrOry3c5nFbrou6qdDy1mQc830Kyn6M0sQBphQ=",
  ]
}
