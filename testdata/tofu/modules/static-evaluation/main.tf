variable "kind" {
  default = "nowhere"
}

variable "where" {
  type = object({ base = optional(string, "./modules"), name = string })
}

variable "suffix" {
  default = "nowhere"
}

locals {
  list  = yamldecode(file("modules.yaml"))
  third = "${path.module}/${local.list.third}"
}

module "first" {
  source = "./modules/${lower(var.kind)}"
}

module "second" {
  source = join("/", [var.where.base, var.where.name])
}

module "third" {
  source = "./${local.third}"
  kind   = replace(var.kind, "FIR", "fou")
}

module "fifth" {
  source = terraform.workspace == "default" ? "./modules/fifth${var.suffix}" : "./nowhere"
}
