"""The recipes of tasks that make their own data, by name."""

from pathlib import Path

SHIPPED = Path(__file__).resolve().parents[2] / "assets" / "recipes" / "tasks"


def presets() -> dict[str, Path]:
    """The file of each recipe, by its name."""
    return {path.stem: path for path in sorted(SHIPPED.glob("*.toml"))}


def title(path: Path) -> str:
    """What a recipe trains, in words: the first line of its file, a comment."""
    return path.read_text(encoding="utf-8").splitlines()[0].removeprefix("#").strip()
