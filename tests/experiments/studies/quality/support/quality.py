"""Sets up the module path of the studies; exits with 77, which CTest treats as "skipped", without
PyTorch."""
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[5]
STUDIES = ROOT / "experiments" / "studies" / "quality"
sys.path.insert(0, str(STUDIES))
SKIPPED = 77

try:
    import torch
except ImportError:
    print("no PyTorch for this interpreter: apt-get install python3-torch")
    sys.exit(SKIPPED)
torch.set_num_threads(1)

WORDS = "the quick brown fox jumps over a lazy dog while seven wizards make toxic brew for the queen and jack "


def text_file(folder: pathlib.Path, characters: int = 60_000) -> pathlib.Path:
    """A training text that needs no package."""
    path = folder / "words.txt"
    path.write_text((WORDS * (characters // len(WORDS) + 1))[:characters])
    return path


def command(study: str, *arguments) -> list[str]:
    """Runs a study's command."""
    return [sys.executable, "-B", str(STUDIES / f"{study}.py"), *map(str, arguments)]


class TextCase(unittest.TestCase):
    """Tests that share a folder and the text in it."""

    @classmethod
    def setUpClass(cls):
        cls.kept = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.kept.name)
        cls.text = text_file(cls.folder)

    @classmethod
    def tearDownClass(cls):
        cls.kept.cleanup()
