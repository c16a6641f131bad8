"""What protects the house. `make test` runs everything, the browser included."""
