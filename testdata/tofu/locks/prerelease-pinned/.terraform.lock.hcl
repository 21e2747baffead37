# This file is maintained automatically by "tofu init".
# Manual edits may be lost in future updates.

provider "registry.opentofu.org/acme/anvil" {
  version     = "1.2.0-beta1"
  constraints = "1.2.0-beta1"
  hashes = [
    "h1:4Ds7yzVGdCQW6JHYYubCje6s/8lkwOF+m7xrYtWF7zg=",
    "h1:MqjUsx7Vqmzjod59OqgmhADRi+ZGe0DbNykxwcqCSmg=",
    "h1:zGGpGBjI/LejnSsHp6UrphkIviGVyv3tVslz4IjJxqs=",
    "zh:360f94a5f12f39af185b7336334db390e099d905258d0c538ca4b939358f2e02",
    "zh:8386039a396c9c42cafa687001de8c830402fc45461679e834a0eba5a2efc0c3",
    "zh:91fb5c51144447e9f7394f4e3b11381298d4a85555451e8a7671c12dcb903a40",
    "zh:b637fb9052c888803de41e14806617d4ae91523ff1db99be65481a4bf19677ff",
  ]
}
