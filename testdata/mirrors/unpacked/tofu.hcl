# This file is maintained automatically by "tofu init".
# Manual edits may be lost in future updates.

provider "registry.opentofu.org/acme/anvil" {
  version     = "1.0.0"
  constraints = "1.0.0"
  hashes = [
    "h1:LxY1JXjOLlhLizm2xlv3F2WdSZmfaTAUSoj+SPaJuU8=",
    "h1:dsSXWfXQ4UmMubNbe8k5+2q6ecxCtG0ejYeJSn63PEc=",
    "h1:vD7d/lj8dvcZYN6pzou0FE6KUXKDqU0fbSwgUvBOeCw=",
  ]
}
