"""What protects the house. `make test` runs half of it in ten minutes, `make all` everything."""
