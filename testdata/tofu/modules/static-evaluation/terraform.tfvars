kind  = "nowhere"
where = { name = "second" }
