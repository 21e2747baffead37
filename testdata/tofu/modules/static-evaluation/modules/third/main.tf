variable "kind" {}

module "fourth" {
  source = "../${trimsuffix(var.kind, "ST")}rth"
}
