resource "orchard_service" "api" {
  memory_limit = "256Mi"
}
