# This file is maintained automatically by "terraform init".
# Manual edits may be lost in future updates.

provider "registry.terraform.io/acme/anvil" {
  version     = "1.2.0-beta1"
  constraints = "1.2.0-beta1"
  hashes = [
    "h1:4Ds7yzVGdCQW6JHYYubCje6s/8lkwOF+m7xrYtWF7zg=",
    "h1:MqjUsx7Vqmzjod59OqgmhADRi+ZGe0DbNykxwcqCSmg=",
    "h1:zGGpGBjI/LejnSsHp6UrphkIviGVyv3tVslz4IjJxqs=",
  ]
}
