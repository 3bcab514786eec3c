"""A text, split into training characters and held-out characters.

By default "An Anarchist FAQ", Debian's package `anarchism` (GPL-2 or later): eleven million
characters of English prose. Its content does not matter here; it is long, real and always the same.
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

FOLDER = pathlib.Path("/usr/share/doc/anarchism/html")
# Tabs and line feeds become spaces; characters outside printable ASCII are dropped.
FIRST, LAST = " ", "~"
VOCABULARY = ord(LAST) - ord(FIRST) + 1
HELD_OUT = 0.1


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


def _of_package() -> str:
    pages = sorted(FOLDER.glob("*.html"))
    if not pages:
        raise QualityError(f"there is no text in {FOLDER}; install it with `apt-get install anarchism`, or give "
                           "another with --text FILE")
    texts = []
    for page in pages:
        words = _Words()
        words.feed(page.read_text(errors="ignore"))
        texts.append(_plain("".join(words.parts)))
    return " ".join(texts)


def _read(path: str | None) -> str:
    if path is None:
        return _of_package()
    try:
        return _plain(pathlib.Path(path).read_text(errors="ignore"))
    except OSError as error:
        raise QualityError(f"--text: cannot read {path}: {error.strerror}") from error


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


def prepare(folder: pathlib.Path, path: str | None) -> Corpus:
    """Reads the package's text or a file's, and keeps it in `folder` for all processes of a study."""
    write_whole(folder / "text.txt", _read(path))
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
