module "one" {
  source = "./one"
}

module "again" {
  source  = ".\\one\\..\\one"
  version = null
}
