output "answer" {
  value = 42
}
