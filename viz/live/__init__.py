"""The one browser component: instruments that answer while the hand moves, and what feeds them."""
