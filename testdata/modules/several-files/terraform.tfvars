region = "north"
