"""The microscope: all heads at a glance, and one head taken apart."""
