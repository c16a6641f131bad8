"""What only `make nightly` runs: matrices of settings, kills, long visits, trainings."""
