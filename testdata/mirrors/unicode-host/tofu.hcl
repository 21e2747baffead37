# This file is maintained automatically by "tofu init".
# Manual edits may be lost in future updates.

provider "bücher.example/acme/quill" {
  version = "1.0.0"
  hashes = [
    "h1:FY8CIAXVY2OVwD51U28sJ6B/Uobb3iIQyNXCmxpOU84=",
    "h1:KWRHzJ9Voli8i3uKE4KdNZnBWKTbTcQjegZ9JWUsN7w=",
    "h1:hF8esXq5f7dpFQPMtOS7Mvov4a63MFLkTdxJKcycu7g=",
    "zh:8f99ffad3bd5e8ee423974ec96d8a2f40dc273a4d78df0464c280fb2f194db86",
    "zh:9bd3fb60ac8a54a63c1f023b6daf977229293f0da6d2e67c381c40e6489d9274",
    "zh:cd641a06e659a9b1060333f1b84a29f65bdf3da4ac5ba6de105bad21cd551c9a",
  ]
}
