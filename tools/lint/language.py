#!/usr/bin/env python3
"""Language lint: idiomatic English in comments, messages and documentation.

Counts markers of non-idiomatic technical prose (free relatives such as "what is sent", sentences that
begin with "Of" or "What", code that "tells" or "says") per 1,000 words in four kinds of text:

  comments   of C++, Python, JavaScript, shell and CMake sources, tests included
  messages   string literals of the C++ product sources that read as prose (three words or more)
  docs       Markdown, without fenced code
  changelog  CHANGELOG.md

Fails, and prints every marker as FILE:LINE, if a kind exceeds the bar. Usage:
  tools/lint/language.py [--bar PER_THOUSAND] [--list] [PATH...]
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tokenize
from typing import Iterator, NamedTuple

BAR = 0.5  # markers per 1,000 words; SimGrid, DuckDB, Ginkgo, fmt and ASTRA-sim have 0.0 to 0.4

MARKERS = re.compile("|".join([
    r"\b[Ww]hat (?:a|an|the|is|are|was|it|they|others|each|all|has|have|its)\b",  # free relatives
    r"\b(?:of which|of those|that of|those of|those that|that which)\b",
    r"\b(?:tells?|told|says?|said)\b",  # code does not speak
    r"\b(?:who|whoever|whom|nobody|somebody|everybody)\b",  # threads and functions are no persons
    r"\b(?:behind|beside)\b",  # after, next to, apart from
    r"(?:^|[.;:] )(?:Of|What|Who|Whoever|Whom)\b(?! Contents)",  # a sentence begins with a noun or a verb
]))
WORD = re.compile(r"[A-Za-z][A-Za-z']*")
PROSE = re.compile(r"[A-Za-z']+ [a-z']+ [a-z']+")
C_STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')

COMMENTED = {".cpp": "//", ".hpp": "//", ".h": "//", ".js": "//", ".sh": "#", ".cmake": "#", ".txt": "#"}
CHANGELOG = "CHANGELOG.md"  # a kind of its own, which the other pages would dilute
SKIPPED = ("LICENSE", "tests/fixtures/", "tools/activations/moby_dick.txt", "tools/lint/language.py")


class Text(NamedTuple):
    kind: str
    file: str
    line: int
    words: str


def c_like(file: str, source: str, sign: str) -> Iterator[Text]:
    product = file.endswith((".cpp", ".hpp")) and not file.startswith("tests/")
    for number, line in enumerate(source.splitlines(), 1):
        bare = C_STRING.sub('""', line)
        at = bare.find(sign)
        if at >= 0 and (at == 0 or bare[at - 1] in " \t;{})"):
            yield Text("comments", file, number, bare[at:].lstrip("/!<# \t"))
        if product and not line.lstrip().startswith(("#include", "//")):
            for match in C_STRING.finditer(line if at < 0 else line[:line.find(sign)]):
                if PROSE.search(match.group(1)):
                    yield Text("messages", file, number, match.group(1))


def python(file: str) -> Iterator[Text]:
    previous = tokenize.NEWLINE
    with open(file, "rb") as source:
        for token in tokenize.tokenize(source.readline):
            if token.type == tokenize.COMMENT:
                yield Text("comments", file, token.start[0], token.string.lstrip("#! "))
            elif token.type == tokenize.STRING and previous in (tokenize.INDENT, tokenize.NEWLINE, tokenize.ENCODING):
                for offset, line in enumerate(token.string.strip('rbfu"\'').splitlines()):
                    yield Text("comments", file, token.start[0] + offset, line.strip())
            if token.type not in (tokenize.NL, tokenize.COMMENT):
                previous = token.type


def markdown(file: str, source: str) -> Iterator[Text]:
    kind = "changelog" if file == CHANGELOG else "docs"
    fenced = False
    for number, line in enumerate(source.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield Text(kind, file, number, line.strip().lstrip("#>-*| "))


def texts(file: str) -> Iterator[Text]:
    path = pathlib.Path(file)
    if path.suffix == ".py":
        yield from python(file)
        return
    if path.suffix == ".md":
        yield from markdown(file, path.read_text(encoding="utf-8"))
    elif path.suffix in COMMENTED and (path.suffix != ".txt" or path.name == "CMakeLists.txt"):
        yield from c_like(file, path.read_text(encoding="utf-8"), COMMENTED[path.suffix])


def tracked(paths: list[str]) -> list[str]:
    listed = subprocess.run(["git", "ls-files", "-z", "--", *paths], check=True, capture_output=True, text=True)
    return [file for file in listed.stdout.split("\0")
            if file and not file.startswith(SKIPPED) and pathlib.Path(file).is_file()]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bar", type=float, default=BAR, help=f"markers per 1,000 words (default {BAR})")
    parser.add_argument("--list", action="store_true", help="print the markers of every kind, also below the bar")
    parser.add_argument("paths", nargs="*", help="files or folders (default: all tracked)")
    options = parser.parse_args()

    words = {"comments": 0, "messages": 0, "docs": 0, "changelog": 0}
    found: dict[str, list[str]] = {kind: [] for kind in words}
    for file in tracked(options.paths):
        for text in texts(file):
            words[text.kind] += len(WORD.findall(text.words))
            found[text.kind] += [f'{text.file}:{text.line}: "{marker.group().strip()}" in: {text.words}'
                                 for marker in MARKERS.finditer(text.words)]
    failed = False
    for kind, count in words.items():
        rate = 1000 * len(found[kind]) / max(count, 1)
        above = rate > options.bar
        failed = failed or above
        if above or options.list:
            print("\n".join(found[kind]))
        print(f"language: {kind}: {len(found[kind])} markers in {count} words, {rate:.2f} per 1,000 "
              f"({'above' if above else 'within'} {options.bar})")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
