"""What protects the model: parity, invariants, worked examples, and every refusal."""
