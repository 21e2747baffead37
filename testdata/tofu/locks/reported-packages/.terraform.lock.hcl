# This file is maintained automatically by "tofu init".
# Manual edits may be lost in future updates.

provider "registry.example/acme/yard" {
  version = "1.0.0"
  hashes = [
    "h1:V5y89n0VzdSgCG1B9ATI6LmV4pqsCag64b2SPyjUvdA=",
    "h1:uBWTVdENXoOMPewg9QWK9EpHcZnEeFOhNJVOiUngHao=",
    "h1:v1PWqjSwb2FvSUffQIU/dqvnN63FqEjpw9Z2XPVR8Ig=",
    "zh:4ab5822690509f7e07deb95305a484922cd7e60a632254c2eaa6fca205b2edaa",
    "zh:6b35d4e21adeb3777e164f6bd379c56be48104b18145dd945a8ad0b716a8e6e9",
    "zh:91fb5c51144447e9f7394f4e3b11381298d4a85555451e8a7671c12dcb903a40",
    "zh:ad263337a3b9b9ad972998955de04e6cd46cfc01cc02e0142862f02643625487",
    "zh:cad2ce06db32ae42596342ce6edbaa655054dea86b139440b2665a48893209f9",
  ]
}

provider "registry.opentofu.org/acme/depot" {
  version = "1.0.0"
  hashes = [
    "h1:HL2uHo4+HyVvF0kBEyrr1hID++SL5Fgb38UWg6FodrA=",
    "h1:JDzggoB77VvzBht/FBIm4Ri6BMAMOxzh/gPhgZv8cP8=",
    "h1:JxYWuhqZDzmm35vqmtnqyVVxgNqCqKkGIyXGslAhPQA=",
    "h1:Zlc3naZoi/SM50FzDXBB+ratlYIdDj9TGktYBn2BODA=",
    "zh:23893026ae784ad38218d1c48f6398b5ca4da6b9cae4b7642e4f922d2cbd5f05",
    "zh:4bc5bf94e9766d1354b4f3a013e6fca51cfa170cc6809c5fc4288fd21e8f13ae",
    "zh:85c5eb6f3b3f8a3a81ecf56d7190263f760e020c36d5c667a8a2a6c2726f6dad",
    "zh:91fb5c51144447e9f7394f4e3b11381298d4a85555451e8a7671c12dcb903a40",
    "zh:dcff033c40de65170b018f59cf82c6c0355ca4a564455bb4b594a2af18ee48e9",
  ]
}
