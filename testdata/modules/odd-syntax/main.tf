# A byte that is no UTF-8: ÿ
locals {
  twice = { a = 1, a = 2 }
  folded = { for key in ["a"] : key =>
    key == "a"
    ? 1
    : 2
  }
  text = <<EOF
EOF" is not the end, nor is EOF; or
  EOF | this
EOF
  deep = [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]
}

terraform {
  required_providers {
    anvil = {
      source  = "acme/anvil"
      version = "1.0.0"
    }
  }
}
