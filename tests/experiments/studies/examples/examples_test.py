"""Runs every command of every example page, on reduced copies.

Usage: examples_test.py EQUARX_SIM [unittest arguments]
"""
import concurrent.futures
import importlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "support"))

import markdown
import picture_command
import sandbox

PROGRAM = ""
EXAMPLES = markdown.ROOT / "experiments" / "studies" / "examples"
PLOT = picture_command.PLOT
PATHS = re.compile(r"^(?:experiments|configs|tools|tests|docs)/")
LINK = re.compile(r"\]\(([^)#]+)")
PICTURE = re.compile(r"`([A-Za-z0-9_.-]+)\.png`")
MOST_LINES = 75
EXAMPLES_AT_ONCE = 2


def names() -> list[str]:
    """The folders of all examples."""
    return sorted(folder.name for folder in EXAMPLES.iterdir() if folder.is_dir() and folder.name != "__pycache__")


def commands(name: str) -> list[str]:
    """The commands of an example's page, in order."""
    return markdown.page_commands((EXAMPLES / name / "README.md").read_text(encoding="utf-8"))


class Runs(list):
    """The runs of a sweep's results."""

    def the(self, label: str, **where) -> dict:
        """The run with that label and these values of axes, named by the last parts of their keys."""
        found = [run for axes, run in self if run["label"] == label and all(
            any(key.endswith(f"/{name}") and at == value for key, at in axes.items())
            for name, value in where.items())]
        assert len(found) == 1, f"{len(found)} runs of {label} at {where}"
        return found[0]


def gain_by_slice(case: unittest.TestCase, runs: Runs) -> None:
    for name in ("2x2", "16x16"):
        case.assertLess(runs.the("full-loop", slice=name, bytes="64 KiB")["speedup"], 0.9)
        for label in ("full-loop", "semi-loop"):
            case.assertGreater(runs.the(label, slice=name, bytes="256 MiB")["speedup"], 1.3)
    case.assertGreater(runs.the("semi-loop", slice="16x16", bytes="64 KiB")["speedup"],
                       1.5 * runs.the("full-loop", slice="16x16", bytes="64 KiB")["speedup"])
    case.assertLess(runs.the("semi-loop", slice="2x2", bytes="256 MiB")["speedup"],
                    runs.the("full-loop", slice="2x2", bytes="256 MiB")["speedup"])


def heavy_tails(case: unittest.TestCase, runs: Runs) -> None:
    def decibels(label: str, kind: str) -> float:
        [found] = [run for axes, run in runs if run["label"] == label and kind in str(axes)]
        return found["numerics"]["sqnr_db"]

    lost = [decibels(f"int8 blocks of {size}", "normal") - decibels(f"int8 blocks of {size}", "outliers")
            for size in (32, 128, 512)]
    case.assertEqual(lost, sorted(lost))
    case.assertGreater(lost[-1], lost[0] + 6)
    case.assertGreater(decibels("int8 blocks of 128", "normal"), decibels("fp8-e4m3 blocks of 128", "normal") + 10)
    case.assertGreater(decibels("fp8-e4m3 blocks of 128", "outliers"), decibels("int8 blocks of 128", "outliers"))
    speedups = [runs[[run["label"] for _, run in runs].index(label)][1]["speedup"]
                for label in ("int8 blocks of 32", "int8 blocks of 128", "mxfp6-e2m3", "mxfp4")]
    case.assertEqual(speedups, sorted(speedups))


def microshards(case: unittest.TestCase, runs: Runs) -> None:
    def at(size: str, mini: int, micro: int) -> dict:
        return runs.the("int8", bytes=size, minishards=mini, microshards=micro)

    case.assertGreater(at("32 MiB", 1, 32)["speedup"], 1.05 * at("32 MiB", 1, 1)["speedup"])
    case.assertLess(at("2 MiB", 1, 32)["speedup"], 0.9 * at("2 MiB", 1, 1)["speedup"])
    for size in ("2 MiB", "32 MiB"):
        case.assertGreater(at(size, 32, 1)["numerics"]["sqnr_db"], at(size, 1, 1)["numerics"]["sqnr_db"] + 3)
        case.assertEqual(at(size, 1, 1)["numerics"]["sqnr_db"], at(size, 1, 32)["numerics"]["sqnr_db"])
        too_many = at(size, 32, 32)
        case.assertLess(too_many["speedup"], 0.5)
        case.assertGreater(too_many["core_busy_s"], 0.95 * too_many["time_s"])


def torus_or_ring(case: unittest.TestCase, runs: Runs) -> None:
    for number_format in ("bf16", "int8"):
        at = [{"slice": name, "bytes": size, "torus/format": number_format}
              for name in ("4x4", "16x16") for size in ("4 KiB", "128 MiB")]
        small, large, wrapped_small, wrapped_large = (runs.the("torus", **where)["speedup"] for where in at)
        case.assertGreater(small, 1.1)
        case.assertTrue(0.8 < large < 0.9, large)
        case.assertGreater(wrapped_small, 5)
        case.assertGreater(wrapped_large, 1.9)


def slow_link(case: unittest.TestCase, runs: Runs) -> None:
    for label in ("ring bf16", "ring int8", "torus bf16", "torus int8"):
        healthy, slow = (runs.the(label, bandwidth_factor=factor) for factor in (1, 0.1))
        case.assertGreater(slow["time_s"], 6 * healthy["time_s"])
        case.assertLessEqual(slow["time_s"], 10 * healthy["time_s"])
        case.assertGreater(slow["breakdown"]["payload_s"], 0.9 * slow["time_s"])
    for label in ("ring", "torus"):
        gains = [runs.the(f"{label} bf16", bandwidth_factor=factor)["time_s"]
                 / runs.the(f"{label} int8", bandwidth_factor=factor)["time_s"] for factor in (1, 0.1)]
        case.assertGreater(gains[1], (1.2 if label == "torus" else 1.0) * gains[0])


def slice_for_model(case: unittest.TestCase, runs: Runs) -> None:
    for chip in ("tpu-v5e", "tpu-v6e"):
        few, many = (runs.the("bf16", model="gemma3-27b", hardware=chip, slice=name, tokens=4096)
                     for name in ("2x2", "4x8"))
        case.assertLess(many["time_s"], few["time_s"])
        case.assertGreater(many["time_s"] * many["chips"], 2 * few["time_s"] * few["chips"])
        case.assertGreater(many["exposed_s"] / many["time_s"], 2 * few["exposed_s"] / few["time_s"])
        gains = [runs.the("full-loop", model="gemma3-27b", hardware=chip, slice=name, tokens=4096)["speedup"]
                 for name in ("2x2", "4x8")]
        case.assertLess(gains[0], gains[1])
        case.assertLess(runs.the("full-loop", model="gemma3-27b", hardware=chip, slice="4x8", tokens=512)["speedup"],
                        gains[1])


def dollars_per_token(case: unittest.TestCase, runs: Runs) -> None:
    def cost(precision: str, batch: int) -> float:
        return runs.the("two-shot", precision=precision, batch=batch)["cost_per_million_tokens_usd"]

    case.assertAlmostEqual(cost("fp8", 1) / cost("gptq-w4a16", 1), 1 / (1 - 0.27), delta=0.02)
    case.assertAlmostEqual(cost("gptq-w4a16", 512) / cost("fp8", 512), 1.21, delta=0.02)
    for axes, run in runs:
        chip_seconds = 8 * run["time_s"]
        case.assertAlmostEqual(run["cost_usd"], 3.99 / 3600 * chip_seconds, delta=1e-9 * run["cost_usd"])
        case.assertAlmostEqual(run["cost_per_million_tokens_usd"] * axes["/workload/batch"] / 1e6, run["cost_usd"],
                               delta=1e-9 * run["cost_usd"])
        case.assertTrue(71.8 * chip_seconds <= run["energy_j"] <= 700 * chip_seconds)


# Claims of the pages, checked against the results of their `sweep.json`.
CLAIMS = {claim.__name__: claim for claim in (dollars_per_token, gain_by_slice, heavy_tails, microshards, slice_for_model,
                                              slow_link, torus_or_ring)}


class Pages(unittest.TestCase):
    """Checks that need no program."""

    def pages(self) -> list[tuple[str, str]]:
        return [(name, (EXAMPLES / name / "README.md").read_text(encoding="utf-8")) for name in names()]

    def test_pages_are_short_and_have_their_parts(self):
        for name, page in self.pages():
            self.assertLessEqual(len(page.splitlines()), MOST_LINES, name)
            for part in ("```sh\n", "## Results", "## Why", "## Adaptation", "## Limits"):
                self.assertIn(part, page, name)

    def test_links_resolve(self):
        for path in EXAMPLES.rglob("README.md"):
            for link in LINK.findall(path.read_text(encoding="utf-8")):
                if not link.startswith("http"):
                    self.assertTrue((path.parent / link).exists(), f"{path}: {link}")

    def test_every_file_is_mentioned(self):
        for name, page in self.pages():
            for path in (EXAMPLES / name).iterdir():
                if path.name not in ("README.md", "__pycache__"):
                    self.assertIn(path.name, page)

    def test_the_index_is_complete(self):
        index = (EXAMPLES / "README.md").read_text(encoding="utf-8")
        self.assertEqual([name for name in names() if f"({name}/)" not in index], [])

    def test_claims_belong_to_examples(self):
        self.assertLessEqual(set(CLAIMS), set(names()))

    def test_commands_name_existing_files(self):
        for name, _ in self.pages():
            for command in commands(name):
                for word in markdown.words(command):
                    if PATHS.match(word):
                        self.assertTrue((markdown.ROOT / word).exists(), f"{command}: {word}")


class Commands(unittest.TestCase):
    """Runs all commands of all pages in one folder, and draws pictures for those without a drawing
    command."""

    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory(prefix="equarx-examples-")
        cls.addClassCleanup(temporary.cleanup)
        cls.sandbox = pathlib.Path(temporary.name)
        sandbox.make(cls.sandbox, pathlib.Path(PROGRAM).resolve())
        pool = concurrent.futures.ThreadPoolExecutor(EXAMPLES_AT_ONCE)
        cls.addClassCleanup(pool.shutdown)
        cls.simulated = {name: pool.submit(cls.simulate, name) for name in names()}
        before = os.getcwd()
        os.chdir(cls.sandbox)
        cls.addClassCleanup(os.chdir, before)
        cls.import_plot()

    @classmethod
    def import_plot(cls):
        """Importing Matplotlib takes a second: done once, not for each picture."""
        sys.path.insert(0, str(markdown.ROOT / "tests" / "tools" / "plot" / "support"))
        cls.plot_module = picture_command.module()
        cls.kinds_of_examples = importlib.import_module("kinds_of_examples")

    @classmethod
    def simulate(cls, name: str) -> str:
        """Runs the commands that do not draw, in order, and returns their output."""
        printed = ""
        for command in commands(name):
            if PLOT not in markdown.words(command):
                ran = subprocess.run(["bash", "-c", command], cwd=cls.sandbox, capture_output=True, text=True,
                                     check=False)
                if ran.returncode != 0:
                    raise AssertionError(f"{command}\n{ran.stderr}")
                printed += ran.stdout
        return printed

    def plot(self, words: list[str]) -> tuple[int, str, str]:
        """Exit code, standard output and standard error of the plot command."""
        return picture_command.draw(words)

    def draw(self, name: str) -> str:
        """Runs the drawing commands, and returns their output."""
        printed = ""
        for words in map(markdown.words, commands(name)):
            if PLOT in words:
                code, out, err = self.plot(words[words.index(PLOT) + 1:])
                self.assertEqual((code, err), (0, ""), " ".join(words))
                printed += out
        return printed

    def check_claim(self, name: str) -> None:
        results = self.sandbox / "results" / name / "results.jsonl"
        lines = list(map(json.loads, results.read_text().splitlines()))
        self.assertEqual([line["error"] for line in lines if "error" in line], [])
        if name in CLAIMS:
            CLAIMS[name](self, Runs((line["axes"], line["run"]) for line in lines))

    def test_commands_run_and_pages_match_their_output(self):
        for name, simulated in self.simulated.items():
            with self.subTest(name):
                printed = simulated.result() + self.draw(name)
                pictures = PICTURE.findall((EXAMPLES / name / "README.md").read_text(encoding="utf-8"))
                self.assertGreater(len(pictures), 0)
                for picture in pictures:
                    for ending in ("png", "svg"):
                        self.assertRegex(printed, rf"(?m)^results/{name}/(.*/)?{re.escape(picture)}\.{ending}$")
                for path in re.findall(r"(?m)^results/\S+", printed):
                    self.assertGreater((self.sandbox / path).stat().st_size, 0)
                self.check_claim(name)

    def test_every_kind_of_picture_is_drawn_or_refused(self):
        kinds = list(self.plot_module.KINDS)
        drawn = {kind for options in self.kinds_of_examples.DRAWN.values() for kind in options}
        self.assertEqual(set(kinds) - drawn, {"advice", "compare", "contract", "paper", "plan", "served", "step", "study"})
        for name, simulated in self.simulated.items():
            with self.subTest(name):
                simulated.result()
                by_page = {words[words.index(PLOT) + 1] for words in map(markdown.words, commands(name))
                           if PLOT in words}
                self.assertLessEqual(by_page, set(self.kinds_of_examples.DRAWN.get(name, by_page)))
                others = [kind for kind in kinds if kind not in by_page]  # drawn by the other test
                self.kinds_of_examples.check(self, self.plot, others, pathlib.Path("results") / name)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    PROGRAM = sys.argv.pop(1)
    unittest.main()
