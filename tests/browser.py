"""The Chromium or Chrome the tests drive: an installed one when there is one, else install it.

python -m tests.browser prints where it is, and installs one only when none is found.
"""

import os
import shutil
import subprocess
import sys
from argparse import ArgumentParser
from pathlib import Path

COMMANDS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MAC_APPLICATIONS = (
    "Google Chrome.app/Contents/MacOS/Google Chrome",
    "Chromium.app/Contents/MacOS/Chromium",
)


def find_browser() -> Path | None:
    """The first installed browser that starts, or None."""
    on_path = [Path(found) for name in COMMANDS if (found := shutil.which(name))]
    folders = (Path("/Applications"), Path.home() / "Applications")
    on_mac = [folder / name for folder in folders for name in MAC_APPLICATIONS]
    candidates = [*on_path, *on_mac]
    return next((path for path in candidates if starts(path)), None) or _playwrights_own()


def starts(path: Path) -> bool:
    """Whether a file is a browser that runs: Ubuntu's `chromium-browser` may be an empty shell."""
    try:
        answer = subprocess.run([path, "--version"], capture_output=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return answer.returncode == 0


def install_browser() -> None:
    """Install Chromium from the system's packages where allowed, else Playwright's own build."""
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    if is_root and shutil.which("apt-get"):
        quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for step in (["update"], ["install", "-y", "--no-install-recommends", "chromium"]):
            subprocess.run(["apt-get", *step], env=quiet, stdin=subprocess.DEVNULL)
    if find_browser() is None:
        subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"])


def _playwrights_own() -> Path | None:
    # Asked in a process of its own: Playwright cannot start twice in one thread.
    program = (
        "from playwright.sync_api import sync_playwright\n"
        "with sync_playwright() as playwright: print(playwright.chromium.executable_path)"
    )
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    path = Path(answer.stdout.strip() or "missing")
    return path if starts(path) else None


def main() -> None:
    """Print the browser's path; exit with one line of advice when there is none to be had."""
    ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    if find_browser() is None:
        install_browser()
    browser = find_browser()
    if browser is None:
        sys.exit("no Chromium or Chrome found and none could be installed; install one by hand")
    print(f"browser: {browser}")


if __name__ == "__main__":
    main()
