"""The store of a study, with failures while it is written."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import quality
import store

GONE = 999_999_999  # unused process id


def compute(definition: dict) -> dict:
    return {"twice": 2 * definition["number"]}


class StoreTest(unittest.TestCase):
    def setUp(self):
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.folder = pathlib.Path(kept.name)
        self.cells = [store.Cell(f"cell {number}", {"number": number}) for number in range(3)]

    def fill(self) -> dict:
        with mock.patch("builtins.print"):
            return store.fill(self.folder, self.cells, compute, 1, str)

    def test_a_damaged_cell_is_recomputed(self):
        whole = self.fill()
        for text in ("", '{"twice": '):
            self.cells[1].file(self.folder).write_text(text)
            self.assertEqual(self.fill(), whole)
            self.assertEqual(json.loads(self.cells[1].file(self.folder).read_text()), {"twice": 2})

    def test_only_parts_of_killed_processes_are_removed(self):
        self.fill()
        left = self.folder / "cells" / f"cell.json.part{GONE}"
        others = [self.folder / "cells" / f"cell.json.part{os.getpid()}", self.folder / "my.part", self.folder / "my.partial"]
        for file in (left, *others):
            file.write_text("half")
        self.fill()
        self.assertFalse(left.exists())
        self.assertTrue(all(file.exists() for file in others))

    def test_a_full_disk_leaves_no_part_and_an_older_file(self):
        file = self.folder / "results.json"
        file.write_text("older")

        def fill_disk(path, contents):
            path.open("wb").write(contents[:1])
            raise OSError(28, "No space left on device")

        with mock.patch.object(pathlib.Path, "write_bytes", fill_disk):
            with self.assertRaisesRegex(store.QualityError, "cannot write .*No space left on device"):
                store.write_whole(file, "newer")
        self.assertEqual([(each.name, each.read_text()) for each in self.folder.iterdir()], [("results.json", "older")])

    def test_a_file_in_place_of_the_folder_is_reported(self):
        (self.folder / "taken").write_text("")
        with self.assertRaisesRegex(store.QualityError, "cannot write .*; give another folder"):
            store.write_whole(self.folder / "taken" / "results.json", "newer")

    def test_a_closed_output_pipe_is_silent(self):
        code = "import store\nstore.run(lambda: [print('x' * 10000, flush=True) for _ in range(100)])"
        study = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 env=os.environ | {"PYTHONPATH": str(quality.STUDIES)})
        study.stdout.close()
        self.assertEqual((study.stderr.read(), study.wait()), (b"", 1))


if __name__ == "__main__":
    unittest.main()
