# This file is maintained automatically by "tofu init".
# Manual edits may be lost in future updates.

provider "registry.opentofu.org/acme/crate" {
  version = "1.0.0"
  hashes = [
    "h1:DifrMveG2E2TvxNVqAS8QxCZcfR0e/8sJ/4+z3GJbO0=",
    "h1:gNAlx+RD9XbvSVdCYocGWsfTkAK3zbs/I/t2JCyG9oc=",
    "h1:pxB74RCW6gttrLWGIm5hrZiEUM9MeJcjVwhClM5OXis=",
    "zh:2791af1d1d6d80921508de6fbb81ca7b92dc7e3f51958004b56044420b9775a8",
    "zh:57b9e73eccfdfff3de2d166f6c3be05b4cd3526092f7246dc57299c793951b11",
    "zh:72bae6c09648549731fdc9f86b748c4952ff5dbaaeaeac619a4ba85654d41871",
    "zh:91fb5c51144447e9f7394f4e3b11381298d4a85555451e8a7671c12dcb903a40",
  ]
}
