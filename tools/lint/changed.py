#!/usr/bin/env python3
"""Prints the C++ sources that a change reaches: changed files, and files that include them directly or indirectly.

A change is everything since the newest commit that is at least a day older than HEAD, since tools/nightly.sh covers all
files once a day; the environment variable EQUARX_BASE names another base. Changes of comments alone are left out.
Without such a base (a shallow clone) every source counts as changed.

Usage:
  tools/lint/changed.py [FOLDER...]                  reached sources, optionally only those below the folders
  tools/lint/changed.py --units COMPILE_COMMANDS     translation units of a (unity) build that contain one of them
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys

DAY = 24 * 60 * 60
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
COMMENT_OR_BLANK = "^[[:blank:]]*(//|\n)"  # an alternative "$" would match after the newline of any line


def git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], check=True, capture_output=True, text=True).stdout


def base() -> str:
    """Commit to compare with; empty if there is none."""
    named = os.environ.get("EQUARX_BASE", "")
    if named:
        return named
    before = int(git("show", "-s", "--format=%ct", "HEAD")) - DAY
    return git("rev-list", "-1", f"--before={before}", "HEAD").strip()


def sources() -> list[str]:
    return git("ls-files", "*.cpp", "*.hpp", "*-inl.h").split()


def changed() -> set[str]:
    """Sources whose code differs from the base, in commits or in the working tree."""
    start = base()
    if not start:
        return set(sources())
    rows = git("diff", "--numstat", "--no-renames", "-w", f"--ignore-matching-lines={COMMENT_OR_BLANK}", start,
               "--", "*.cpp", "*.hpp", "*-inl.h").splitlines()
    return {row.split("\t")[2] for row in rows}


def reached(start: set[str]) -> set[str]:
    """`start` and all sources that include one of them."""
    included_by: dict[str, set[str]] = {}
    for file in sources():
        if pathlib.Path(file).is_file():
            for header in INCLUDE.findall(pathlib.Path(file).read_text(encoding="utf-8")):
                included_by.setdefault(header, set()).add(file)
    found, queue = set(start), list(start)
    while queue:
        new = included_by.get(queue.pop(), set()) - found
        found |= new
        queue += new
    return found


def units(commands: pathlib.Path, files: set[str]) -> list[str]:
    """Translation units that are, or as unity sources include, one of the files."""
    root = pathlib.Path.cwd()
    wanted = {str(root / file) for file in files}
    found = []
    for entry in json.loads(commands.read_text(encoding="utf-8")):
        unit = entry["file"]
        if unit.endswith(".pb.cc"):
            continue
        parts = INCLUDE.findall(pathlib.Path(unit).read_text(encoding="utf-8")) if "/Unity/" in unit else [unit]
        if wanted.intersection(parts):
            found.append(unit)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--units", type=pathlib.Path, metavar="COMPILE_COMMANDS", help="print translation units instead")
    parser.add_argument("folders", nargs="*", help="only sources below these folders")
    options = parser.parse_args()
    files = {file for file in reached(changed())
             if not options.folders or file.startswith(tuple(f"{folder}/" for folder in options.folders))}
    for line in units(options.units, files) if options.units else sorted(files):
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
