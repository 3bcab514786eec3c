"""Tests the selection of points for one picture."""
import shlex
import unittest

import made_up_sweep
from picture_case import PictureCase

from read import held, point_files

SLICES, SIZES = made_up_sweep.SLICES, made_up_sweep.SIZES
MINISHARDS = "/collectives/quick/minishards"


class Held(PictureCase):
    def write(self, entries: list[dict]):
        return made_up_sweep.write(self.folder / "results.jsonl", entries)

    def test_other_axes_must_be_held_at_one_or_more_values(self):
        axes = {MINISHARDS: [1, 2], "/topology/slice": SLICES, "/tensor/bytes": SIZES}
        path = self.write(made_up_sweep.lines(axes=axes))
        self.check_refused([f"one value of {MINISHARDS} (1, 2)", f"plot.py time results.jsonl --where {MINISHARDS}=1"],
                           "time", "results.jsonl")
        self.check_refused(["'3'", "there is: 1, 2"], "time", "results.jsonl", "--where", f"{MINISHARDS}=3")
        self.check_refused(["'/minishards'", "nearest"], "time", "results.jsonl", "--where", "/minishards=3")
        where = ["--where", f"{MINISHARDS}=2", "--where", "/tensor/bytes=16 MiB"]
        self.assertEqual(self.run_plot("time", "results.jsonl", *where).returncode, 0)
        self.check_refused(["one value of /tensor/bytes (64 KiB, 1500 kB, 16 MiB)", f"--where {MINISHARDS}=2",
                            "--where /topology/slice=4x2 --where '/tensor/bytes=64 KiB'"], "error", "results.jsonl",
                           *where[:2], "--where", "/topology/slice=4x2")
        self.check_refused(["one value of /topology/slice (2x2, 4x2);", "--where /topology/slice=2x2"], "breakdown",
                           "results.jsonl", *where)
        ran = self.run_plot("breakdown", "results.jsonl", *where, "--where", "/topology/slice=4x2")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        both = {"/tensor/bytes": SIZES[:2], MINISHARDS: ["1"], "/topology/slice": ["2x2"]}
        self.assertEqual(len(held.rows(held.points_at(point_files.read([path]), both))), 4)

    def test_the_example_of_an_error_is_a_command_that_works(self):
        axes = {"/hardware": ["tpu-v5e", "tpu-v6e"], MINISHARDS: [1, 2], "/topology/slice": SLICES,
                "/tensor/bytes": SIZES}
        self.write([dict(line, config=line["config"] | {"hardware": line["axes"]["/hardware"]})
                    for line in made_up_sweep.lines(axes=axes)])
        for kind, held_axes in (("speedup", ["/hardware", MINISHARDS]), ("error", list(axes)),
                                ("sweep", list(axes)[:2])):
            with self.subTest(kind):
                options = ["--x", "/tensor/bytes", "--y", "/topology/slice"] if kind == "sweep" else []
                error = self.run_plot(kind, "results.jsonl", *options).stderr
                self.assertEqual(error.count("\n"), 1)
                words = shlex.split(error.partition("tools/plot/plot.py ")[2])
                self.assertEqual({word.split("=")[0] for word in words if word.startswith("/") and "=" in word},
                                 set(held_axes))
                ran = self.run_plot(*words)
                self.assertEqual((ran.returncode, ran.stderr), (0, ""))

    def test_object_values_are_held_by_their_words(self):
        self.write(made_up_sweep.lines(axes={"/tensor/values": [{"files": ["a/b.npy"]}, {"distribution": "normal"}]}))
        ran = self.run_plot("breakdown", "results.jsonl", "--where", "/tensor/values=files b.npy")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.check_refused(["there is: files b.npy, distribution normal"], "breakdown", "results.jsonl", "--where",
                           "/tensor/values=uniform")

    def test_failed_points_are_left_out(self):
        entries = made_up_sweep.lines()
        path = self.write([*entries[:-2], made_up_sweep.failed(entries[-1])])
        self.assertEqual(len(held.rows(held.points_at(point_files.read([path]), {}))), len(entries) - 2)
        self.write([made_up_sweep.failed(entries[0])])
        self.check_refused(["every point failed"], "time", "results.jsonl")

    def test_names_include_held_values(self):
        self.write(made_up_sweep.lines(axes={MINISHARDS: [1, 2], "/topology/slice": SLICES, "/tensor/bytes": SIZES}))
        names = set()
        for minishards in (1, 2):
            ran = self.run_plot("time", "results.jsonl", "--where", f"{MINISHARDS}={minishards}", "--format", "svg")
            names |= set(ran.stdout.split())
            [text] = [(self.folder / name).read_text() for name in ran.stdout.split()]
            self.assertIn(f"minishards of quick = {minishards}", text)
        self.assertEqual(names, {"time_minishards_1.svg", "time_minishards_2.svg"})

    def test_names_of_files_do_not_depend_on_the_order_of_options(self):
        where = {"/topology/slice": ["4x2"], "/tensor/values": ['{"distribution": "normal"}'], MINISHARDS: ["2"]}
        self.assertEqual(held.file_words(where), ["minishards", "2", "normal", "4x2"])
        self.assertEqual(held.file_words({"/tensor/values": ['{"files": ["a/outliers.npy"]}']}), ["outliers"])
        self.assertEqual(held.file_words(dict(reversed(where.items()))), held.file_words(where))

    def test_axes_in_every_caption_are_not_repeated(self):
        where = {"/topology/slice": ["4x2"], "/hardware": ["tpu-v5e"], "/tensor/bytes": ["1 MiB"],
                 "/collectives/1/format": ["int8", "int4"]}
        self.assertEqual(held.text(where, ["bf16", "quick"]), "format of quick = int8 or int4")
        self.assertEqual(held.text({"/hardware/link_bandwidth": ["90 GB/s"]}, []),
                         "link bandwidth of the chip = 90 GB/s")


if __name__ == "__main__":
    unittest.main()
