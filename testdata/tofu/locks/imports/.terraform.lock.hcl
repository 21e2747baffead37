# This file is maintained automatically by "tofu init".
# Manual edits may be lost in future updates.

provider "registry.opentofu.org/acme/anvil" {
  version     = "1.1.0"
  constraints = "< 2.0.0"
  hashes = [
    "h1:Sip8aPIIhsTz6SOlOH0S/b935yNfsWgodm2oSFpl8o0=",
    "h1:iTzCl4njBiweihEVbEeSgR6ZZ71CVGPfdZEcgPd19+U=",
    "h1:ze9VOoYRegvJDxBIWaq6pLdBthUa3nPE7HtCCiPj0rw=",
    "zh:3c6af9e8a313af6124b8c6680f297e16d3cc04d56f2da5b04ba7f00eb44a99b8",
    "zh:47e43e8438c2bcadc8afd27d1d8f601479ab86061ebcf23dbbf18f008f1be382",
    "zh:91fb5c51144447e9f7394f4e3b11381298d4a85555451e8a7671c12dcb903a40",
    "zh:a16cab637f91e5884a70f2e0db5f8e9dc501a6d961bf319bace09746dbe20413",
  ]
}

provider "registry.opentofu.org/acme/rivet" {
  version     = "1.0.0"
  constraints = "1.0.0"
  hashes = [
    "h1:A0ygcIdrN+61hE3p5TeK55mjJxdawUMzMpx53MBq8yk=",
    "h1:fc28hvegE3qHOI+8pv9+bfUphRign15Z6G1EIIyuvHo=",
    "h1:r1YWNhTIRcMijdckmCOcT561kLlynILIbda6xW4wX48=",
    "zh:1c24ba39850904b74f46c0a6a8b0c82a6629bc3e570b1579c511384778db6ff0",
    "zh:275b90b34495bb7bb24a2376dcf90c10552ebbc0aae88c54d9fbbe2a1909644b",
    "zh:91fb5c51144447e9f7394f4e3b11381298d4a85555451e8a7671c12dcb903a40",
    "zh:e258b2f8d806c226f2e4881c1e63edabb27f28159c1cfe34b8b649561bde32f1",
  ]
}

provider "registry.opentofu.org/hashicorp/beam" {
  version = "1.0.0"
  hashes = [
    "h1:3iKQz/8KqQ6btoHNBQOyDueoR3urkh6+WLUc96FRIBM=",
    "h1:AMHs/lvqnlc7AotqRuXnQf9scWGZLzL+ghSXNEfqDBQ=",
    "h1:s7u4Y2qtPXPQ1z4SZVsGgzdu1zlBJVd5TS9HjaoEHDI=",
    "zh:1d496301dc9ab99f5e9e5df9fe1d3fbefa8d0da5a3a4b435f0de979607b0562f",
    "zh:5e0d2d20023b7e20987adfa79b379ba5063d68cf8fabb968b897541f85e00686",
    "zh:91fb5c51144447e9f7394f4e3b11381298d4a85555451e8a7671c12dcb903a40",
    "zh:94eec0ce58240c238d0ef2acfb50b6295a90902aedc1d5ee8157ebb231f29d9a",
  ]
}

provider "registry.opentofu.org/hashicorp/bolt" {
  version = "1.0.0"
  hashes = [
    "h1:+qA3O5nmFhewLJJGip0CoY32M8LeM6WerAbw+JYLjZc=",
    "h1:9OMaJQfWcjr8XAyf0eiJet7hlX2aQDDXIP7Co+MXALA=",
    "h1:HagjvV0nEgv5fUI4FyLhlbK4ZjUcpche5j0EL6hft18=",
    "zh:41ad3c7c598180695b5b37cf1ad44cfd56174d4bcc34ffac410bfa4a3abd5444",
    "zh:5c20a6ed98c35b95d241ff6580f8a8cea3b12b4dfcec9835dd4a7122c68dd847",
    "zh:91fb5c51144447e9f7394f4e3b11381298d4a85555451e8a7671c12dcb903a40",
    "zh:fbfc111f03eb6de17e5dd0c66b61226a42ff726c65d63b1e73b3aaa08649263f",
  ]
}

provider "registry.opentofu.org/hashicorp/tofu" {
  version = "1.0.0"
  hashes = [
    "h1:/myQAitXk2lcDT9AjIXgHRvs0DpgxCVQpF6/FphrMc4=",
    "h1:Qar22y7cPbDOrGxiVRalj8XIRSI760Vv+DuIHKVff0g=",
    "h1:lmw/7k/k8glXxHy688s//fzkTQoX5gyRtuBKDrsGzQU=",
    "zh:88415643088d1b40c2b7ed54886bf5f9ebbe063120c88c979a8fdff7d0cba87e",
    "zh:91fb5c51144447e9f7394f4e3b11381298d4a85555451e8a7671c12dcb903a40",
    "zh:c782a9405f88825d2a7038a7885e83f254fd426d5d74a971bc2e2515bcdd607f",
    "zh:c7a28a110f377f9ac1df456ba03b2cec5e7b061ccc8ef955e59aef814ce80d10",
  ]
}
