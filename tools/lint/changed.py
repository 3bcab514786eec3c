#!/usr/bin/env python3
"""Prints the C++ sources that a change reaches: changed files, and files that include them directly or indirectly.

A change is everything since the newest commit that is at least a day older than HEAD, since tools/nightly.sh covers all
files once a day; the environment variable EQUARX_BASE names another base. Changes of comments alone are left out.
Without such a base (a shallow clone) every source counts as changed.

Usage:
  tools/lint/changed.py [--own] [FOLDER...]          reached sources, optionally only those below the folders; with
                                                     --own, only changed ones
  tools/lint/changed.py --units COMPILE_COMMANDS [--limit N]
                                                     translation units of a (unity) build that contain one of them;
                                                     with a limit, the N units with the most changed lines
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import typing

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


def changed() -> dict[str, int]:
    """Sources whose code differs from the base, in commits or in the working tree, with added plus deleted lines."""
    start = base()
    if not start:
        return dict.fromkeys(sources(), 1)
    rows = git("diff", "--numstat", "--no-renames", "-w", f"--ignore-matching-lines={COMMENT_OR_BLANK}", start,
               "--", "*.cpp", "*.hpp", "*-inl.h").splitlines()
    return {file: int(added) + int(deleted) for added, deleted, file in (row.split("\t") for row in rows)}


def reached(start: typing.Iterable[str]) -> set[str]:
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


def units(commands: pathlib.Path, files: set[str], lines: dict[str, int]) -> list[str]:
    """Translation units that are, or as unity sources include, one of the files; first those with most changed lines
    of `lines` in the file itself and in its header."""
    root = pathlib.Path.cwd()
    wanted = {str(root / file): file for file in files}
    found = []
    for entry in json.loads(commands.read_text(encoding="utf-8")):
        unit = entry["file"]
        if unit.endswith(".pb.cc"):
            continue
        parts = INCLUDE.findall(pathlib.Path(unit).read_text(encoding="utf-8")) if "/Unity/" in unit else [unit]
        own = [wanted[part] for part in parts if part in wanted]
        if own:
            size = sum(lines.get(file, 0) + lines.get(file.removesuffix(".cpp") + ".hpp", 0) for file in own)
            found.append((-size, unit))
    return [unit for _, unit in sorted(found, key=lambda item: item[0])]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--units", type=pathlib.Path, metavar="COMPILE_COMMANDS", help="print translation units instead")
    parser.add_argument("--limit", type=int, metavar="N", help="at most N units, those with the most changed lines")
    parser.add_argument("--own", action="store_true", help="only sources that changed themselves")
    parser.add_argument("folders", nargs="*", help="only sources below these folders")
    options = parser.parse_args()
    lines = changed()
    files = {file for file in (lines if options.own else reached(lines))
             if not options.folders or file.startswith(tuple(f"{folder}/" for folder in options.folders))}
    found = units(options.units, files, lines) if options.units else sorted(files)
    if options.limit is not None and len(found) > options.limit:
        print(f"changed: {len(found) - options.limit} of {len(found)} translation units are left to tools/nightly.sh",
              file=sys.stderr)
        found = found[:options.limit]
    for line in found:
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
