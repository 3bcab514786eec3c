#!/usr/bin/python3
"""Makes the pictures of this folder: the tutorial's, with its own commands, and the tile figure.

Usage: make.py [EQUARX_SIM]   (build/release/equarx-sim unless given)
"""
import pathlib
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))

import markdown
import page_shell
import picture_command
import sandbox
import tiles

DOTS_PER_INCH, COLOURS = 100, 64  # sharp enough to read, small enough for a repository
TUTORIAL = ("speedup.png", "gantt_int8.png")
BUILD = "bash tools/run.sh"


def draw_tutorial(program: pathlib.Path) -> None:
    """Runs the tutorial in an empty folder and keeps its pictures."""
    from PIL import Image  # matplotlib needs these, too
    picture_command.DOTS_PER_INCH = DOTS_PER_INCH
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        sandbox.make(folder, program, whole=True)
        page = markdown.text(ROOT / "docs" / "tutorial.md")
        commands = [command for command in markdown.page_commands(page) if command != BUILD]
        page_shell.run([(folder, commands)], path=False)
        for picture in TUTORIAL:
            Image.open(folder / picture).convert("RGB").quantize(COLOURS).save(FOLDER / picture, optimize=True)


def main() -> None:
    """Makes all pictures."""
    program = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "release" / "equarx-sim").resolve()
    (FOLDER / "tiles.svg").write_text(tiles.figure(program), encoding="utf-8")
    draw_tutorial(program)


if __name__ == "__main__":
    main()
