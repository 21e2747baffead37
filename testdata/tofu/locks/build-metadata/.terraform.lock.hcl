# This file is maintained automatically by "tofu init".
# Manual edits may be lost in future updates.

provider "registry.opentofu.org/acme/rivet" {
  version     = "1.0.0+build.7"
  constraints = "1.0.0+build.7"
  hashes = [
    "h1:XxJr7mdHNGoazpxbhxltrPMGdvL+oPISKMzscPEBnbs=",
    "h1:q+sHeh/Rb+EZOD+A/knNFjMHs8TBASzn8VgBsq3vHCw=",
    "h1:yRfXTffPJYJqNtSWcPDeDMdXFFmQqFWSp0PUIyd9T7k=",
    "zh:18cb537d5598439eb861ea6638079708bb6192c8a9d7facc09495c9b25050543",
    "zh:91fb5c51144447e9f7394f4e3b11381298d4a85555451e8a7671c12dcb903a40",
    "zh:a1068b92074cbcb3d7cd269d0669ea958e13feb40ac2ea8b4b25744f45a9e06c",
    "zh:bcb2f7356b3001d1f5979b2ca84947de0f614ccfdfe7e47312ea4e4f5faeb054",
  ]
}
