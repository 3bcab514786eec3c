"""Tests that keys of results of version 0.2 are read under their current names."""
import contextlib
import io
import json
import unittest

import made_up_sweep
from picture_case import PictureCase

from read import point_files


class RenamedKeys(PictureCase):
    def read(self, name: str, text: str):
        """The points of a file, and the notes on it."""
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        with contextlib.redirect_stderr(io.StringIO()) as notes:
            points = point_files.read([path])
        return points, notes.getvalue()

    def test_old_names_in_lines_are_read_with_one_note(self):
        text = "".join(json.dumps(line) + "\n" for line in made_up_sweep.lines(axes={"/x": [1]}))
        new, notes = self.read("new.jsonl", text)
        self.assertEqual(notes, "")
        old, notes = self.read("old.jsonl", text.replace('"idle_s"', '"bubbles_s"').replace('"sync_s"', '"overhead_s"'))
        self.assertEqual(notes.count("old.jsonl: written by version 0.2"), 1)
        self.assertEqual([point.values for point in old.points], [point.values for point in new.points])
        self.assertIn("breakdown/idle_s", old.points[0].values)

    def test_old_names_in_a_table_are_read_with_a_note(self):
        points, notes = self.read("old.csv", "point,key,label,breakdown/bubbles_s\n0,a,int8,2e-6\n")
        self.assertEqual(points.points[0].values["breakdown/idle_s"], "2e-6")
        self.assertIn("old.csv: written by version 0.2", notes)


if __name__ == "__main__":
    unittest.main()
