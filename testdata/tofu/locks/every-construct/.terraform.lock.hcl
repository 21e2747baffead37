# This file is maintained automatically by "tofu init".
# Manual edits may be lost in future updates.

provider "registry.opentofu.org/acme/rivet" {
  version     = "1.0.0"
  constraints = ">= 1.0.0"
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

provider "registry.opentofu.org/hashicorp/anchor" {
  version = "1.0.0"
  hashes = [
    "h1:+ND5XjsG24KyyCdQ8SFWpcL17rkIMLMbFYKUEo3nc9Q=",
    "h1:E+sqi2KjXvBtYrUi9TiRyNQzeFiRI6hN0uG7JdTimfg=",
    "h1:aIWa6Iz4Yt4FdObvPgi+dYjbYVjymtN4zjqorygFvZ0=",
    "zh:0756b1b1b98cf2fe8101cda063dad76f8bb359383266a8c5c268da1f5d26fcd1",
    "zh:48592d9949903570656e44a83ebfe8823de73091faa3b251d12519fffc821d54",
    "zh:7c04f67be4750f87383db167bb4bf272924b310bcc7819793bd1a43e03d33190",
    "zh:91fb5c51144447e9f7394f4e3b11381298d4a85555451e8a7671c12dcb903a40",
  ]
}

provider "registry.opentofu.org/hashicorp/anvil" {
  version = "1.0.0"
  hashes = [
    "h1:VkWRM1Hl9OtVxmj9yCh1tCRLkhOEu4GkkghMLMSIDNI=",
    "h1:gMv7drQxElIAm7CeSpKpPlyhbjGutP/Q827mIJB1glw=",
    "h1:r82iFp14gxSz/5PdMUbfb39e6UJib/6DQ6I7YQXtSIQ=",
    "zh:5dc02f1e6cd7dedff4235ee2ac10cfc483d93eb27202670866d01ddede7db612",
    "zh:5ff208c5433b3799ca3c1cd98f9c14a423f00d57417b103854c59ce551580c33",
    "zh:91fb5c51144447e9f7394f4e3b11381298d4a85555451e8a7671c12dcb903a40",
    "zh:ac7d7e6ba522f58033c06f7a954d1731b31329024f732a108689c195c27a5dc1",
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

provider "registry.opentofu.org/hashicorp/chain" {
  version = "1.0.0"
  hashes = [
    "h1:/DCw/TJWsdhiUX1S+J4z7gOVFTAUIUPmvByFkwacGZc=",
    "h1:ApV/CeFL84CxS+SLr937dHjn6e0fS+0KTQsPAcYzytk=",
    "h1:zlfdbPchChwkRr18Sf6NA5q7dKeDQjddmjpmd7e8iUM=",
    "zh:5a6d78327cde6e60db3be1ebede93feb60df00956b5eb9e0887e12a48317f7b1",
    "zh:7e293eac85f154df8c8ace9497b914a4e4b918bc7f41b368ab1ecf16aa751ae2",
    "zh:91fb5c51144447e9f7394f4e3b11381298d4a85555451e8a7671c12dcb903a40",
    "zh:e616d34d45ca9faf6e98881efdc5a0b90f3eff2d426f6810b17a93e2e2933e70",
  ]
}

provider "registry.opentofu.org/hashicorp/null" {
  version = "3.2.1"
  hashes = [
    "h1:JrahUBtJkdu9wNGa2tyq7FeQnfuOdiLHuwbXK8C54Ks=",
    "h1:N6P8S359+yuY3NLRkbqpbm1R3IyT132DWYt7lwLD1Jo=",
    "h1:xO/NYILJ0RBjNVoVG+8KjDFTUzm65AgO/TbVyxu1X3w=",
    "zh:4f9316ea1931f3a3a8767bde4096049342176318e95a75be7b15f9101f65dc0e",
    "zh:743e2d68b85a4dfdd3424e9b7c0af58ce9ef1d9dbc82336b02e17b6aa2ac5dcc",
    "zh:8a86bbc7048f957db7cd65fd3677d213291b5f34fcc886f73214948406c6eb2b",
    "zh:91fb5c51144447e9f7394f4e3b11381298d4a85555451e8a7671c12dcb903a40",
  ]
}
