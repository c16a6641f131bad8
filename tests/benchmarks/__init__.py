"""What takes how long: timings that no test asserts. `make bench` prints them."""
