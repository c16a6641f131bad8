"""What protects the house. `make test` takes ten minutes, `make nightly` runs it all."""
