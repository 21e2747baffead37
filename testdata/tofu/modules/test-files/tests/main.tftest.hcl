provider "nowhere" {}
