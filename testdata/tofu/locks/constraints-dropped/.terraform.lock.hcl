# This file is maintained automatically by "tofu init".
# Manual edits may be lost in future updates.

provider "registry.opentofu.org/acme/anvil" {
  version = "2.0.0"
  hashes = [
    "h1:+rnF8LO2mzY2PyAshHAVbLA9yZsdxXnmz0hW6Xid/T0=",
    "h1:JjEC5f3rfhP/ksPPErWOH4p39gv1XvCHJNka92I6sNk=",
    "h1:hqNgtUX7mSit8apPbtWLXZUs8NHd6T3MfeleYBK9kLM=",
    "zh:552eae2c0a4e45ca097ca3b54f4b88254dd571f18188fcbc2c29a462384a7ea5",
    "zh:91fb5c51144447e9f7394f4e3b11381298d4a85555451e8a7671c12dcb903a40",
    "zh:9731d512ca913c1bb837b17c28d20c168cf068dbc7ef5a047ac3bc6dc2212e98",
    "zh:d367545c4c867d19d107f7b9e23b369803257b261d274efc76094ad7d2a342d4",
  ]
}

provider "registry.terraform.io/acme/anvil" {
  version     = "1.1.0"
  constraints = ">= 0.9.0"
  hashes = [
    "h1:ze9VOoYRegvJDxBIWaq6pLdBthUa3nPE7HtCCiPj0rw=",
  ]
}
