module "hidden" {
  source = "./nowhere"
}
