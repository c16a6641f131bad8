"""The one browser component: what answers while the mouse moves. Plain JavaScript, no build."""
