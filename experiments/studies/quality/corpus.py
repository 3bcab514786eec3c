"""A text, split into training characters and held-out characters.

By default "An Anarchist FAQ", Debian's package `anarchism` (GPL-2 or later): eleven million
characters of English prose. Its content does not matter here; it is long, real and always the same.
Some studies learn several texts: also the documentation of Perl and of Python.
"""
import dataclasses
import functools
import hashlib
import html.parser
import pathlib
import re
import unicodedata

import numpy as np
import torch

from store import QualityError, write_whole

# Tabs and line feeds become spaces; characters outside printable ASCII are dropped.
FIRST, LAST = " ", "~"
VOCABULARY = ord(LAST) - ord(FIRST) + 1
HELD_OUT = 0.1
WOVEN = 16384  # characters of each text in turn, in the held-out part of several


@dataclasses.dataclass(frozen=True)
class Package:
    """A Debian package and its files of text."""

    name: str
    folder: pathlib.Path
    files: str


PROSE = Package("anarchism", pathlib.Path("/usr/share/doc/anarchism/html"), "*.html")
SEVERAL = (PROSE, Package("perl-doc", pathlib.Path("/usr/share/perl"), "*/pod/*.pod"),
           Package("python3.11-doc", pathlib.Path("/usr/share/doc/python3.11/html"), "**/*.html"))


class _Words(html.parser.HTMLParser):
    """The text of a page, without scripts and styles."""

    def __init__(self):
        super().__init__()
        self.parts, self.hidden = [], 0

    def handle_starttag(self, tag, attrs):
        self.hidden += tag in ("script", "style")

    def handle_endtag(self, tag):
        self.hidden -= tag in ("script", "style")

    def handle_data(self, data):
        if not self.hidden:
            self.parts.append(data)


def _plain(text: str) -> str:
    ascii_only = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"\s+", " ", ascii_only)


def _of_package(package: Package) -> str:
    # perl keeps its files twice, below its version and a link to it
    pages = sorted({page.resolve() for page in package.folder.glob(package.files)})
    if not pages:
        raise QualityError(f"there is no text in {package.folder}; install it with `apt-get install {package.name}`, or "
                           "give another with --text FILE")
    texts = []
    for page in pages:
        text = page.read_text(errors="ignore")
        if page.suffix == ".html":
            words = _Words()
            words.feed(text)
            text = "".join(words.parts)
        texts.append(_plain(text))
    return " ".join(texts)


def _read(path: str | None) -> str:
    if path is None:
        return _of_package(PROSE)
    try:
        return _plain(pathlib.Path(path).read_text(errors="ignore"))
    except OSError as error:
        raise QualityError(f"--text: cannot read {path}: {error.strerror}") from error


def _printable(text: str) -> str:
    return "".join(letter for letter in text if FIRST <= letter <= LAST)


def woven(texts: list[str]) -> str:
    """Several texts as one, whose last tenth has the last tenth of each, in turns."""
    texts = [_printable(text) for text in texts]
    borders = [int(len(text) * (1 - HELD_OUT)) for text in texts]
    ends = [text[border:] for text, border in zip(texts, borders)]
    turns = range(0, max(map(len, ends)), WOVEN)
    return "".join([text[:border] for text, border in zip(texts, borders)]
                   + [end[start : start + WOVEN] for start in turns for end in ends])


@dataclasses.dataclass(frozen=True)
class Corpus:
    """Characters as numbers from 0 to VOCABULARY - 1: the training part, followed by the held-out
    part."""

    train: torch.Tensor
    held_out: torch.Tensor

    def digest(self) -> str:
        """Size of the whole text in characters."""
        return hashlib.sha256(torch.cat((self.train, self.held_out)).to(torch.uint8).numpy().tobytes()).hexdigest()[:12]

    def batch(self, generator: torch.Generator, sequences: int, length: int) -> torch.Tensor:
        """Random training sequences of length + 1 characters: inputs, and the next character of
        each as the target."""
        starts = torch.randint(len(self.train) - length - 1, (sequences,), generator=generator)
        return torch.stack([self.train[start : start + length + 1] for start in starts])

    def sequences(self, count: int, length: int) -> torch.Tensor:
        """The first held-out sequences, one after the other."""
        needed = count * (length + 1)
        if len(self.held_out) < needed:
            raise QualityError(f"the text is too short: {len(self.held_out)} characters are held out, and {needed} are "
                               f"needed; use one of {int(needed / HELD_OUT) + 1} characters or more")
        return self.held_out[:needed].view(count, length + 1)

    def validation(self, count: int, length: int) -> torch.Tensor:
        """The last held-out sequences, for model selection: disjoint from the first ones, on which
        results are reported."""
        self.sequences(2 * count, length)
        return self.held_out[-count * (length + 1) :].view(count, length + 1)


def prepare(folder: pathlib.Path, path: str | None, several: bool = False) -> Corpus:
    """Reads a package's text or a file's, and keeps it in `folder` for all processes of a study.
    `several`: texts of several packages, if no file is given."""
    text = woven([_of_package(package) for package in SEVERAL]) if several and path is None else _read(path)
    write_whole(folder / "text.txt", text)
    load.cache_clear()
    return load(folder)


@functools.lru_cache(maxsize=1)
def load(folder: pathlib.Path) -> Corpus:
    """The prepared text; each process reads it once."""
    letters = np.frombuffer((folder / "text.txt").read_bytes(), np.uint8)
    letters = letters[(letters >= ord(FIRST)) & (letters <= ord(LAST))]
    codes = torch.from_numpy(letters.astype(np.int64) - ord(FIRST))
    border = int(len(codes) * (1 - HELD_OUT))
    corpus = Corpus(codes[:border], codes[border:])
    if len(corpus.train) < 10_000:
        raise QualityError(f"the text is too short: {len(codes)} characters; use one of 20000 or more")
    return corpus
