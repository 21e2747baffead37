# This file is maintained automatically by "tofu init".
# Manual edits may be lost in future updates.

provider "registry.opentofu.org/acme/crate" {
  version = "1.0.0"
  hashes = [
    "h1:DifrMveG2E2TvxNVqAS8QxCZcfR0e/8sJ/4+z3GJbO0=",
    "h1:gNAlx+RD9XbvSVdCYocGWsfTkAK3zbs/I/t2JCyG9oc=",
    "h1:pxB74RCW6gttrLWGIm5hrZiEUM9MeJcjVwhClM5OXis=",
  ]
}
