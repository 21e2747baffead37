kind = "FIRST"
