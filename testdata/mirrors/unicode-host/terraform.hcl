# This file is maintained automatically by "terraform init".
# Manual edits may be lost in future updates.

provider "bücher.example/acme/quill" {
  version = "1.0.0"
  hashes = [
    "h1:FY8CIAXVY2OVwD51U28sJ6B/Uobb3iIQyNXCmxpOU84=",
    "h1:KWRHzJ9Voli8i3uKE4KdNZnBWKTbTcQjegZ9JWUsN7w=",
    "h1:hF8esXq5f7dpFQPMtOS7Mvov4a63MFLkTdxJKcycu7g=",
  ]
}
