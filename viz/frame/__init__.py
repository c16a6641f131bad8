"""What all pages share: navigation, bar, settings and their controls, layout, words, inspector."""

from pathlib import Path

ASSETS = Path(__file__).resolve().parents[2] / "assets"
