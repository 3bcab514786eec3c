"""Tests rejected tables."""
import unittest

import made_up_study
from picture_case import PictureCase


class CsvFile(PictureCase):
    def test_rejects_a_missing_file(self):
        self.check_refused(["none.csv", "No such file"], "paper", "none.csv")

    def test_rejects_a_folder(self):
        self.check_refused([str(self.folder), "directory"], "paper", self.folder)

    def test_a_missing_column_with_the_nearest(self):
        rows = [{("simulation" if key == "simulated" else key): value for key, value in row.items()}
                for row in made_up_study.paper_rows()]
        made_up_study.write(self.folder / "rows.csv", rows)
        self.check_refused(["rows.csv", "'simulated'", "'simulation'"], "paper", "rows.csv")

    def test_rejects_malformed_files(self):
        header = ",".join(made_up_study.paper_rows()[0])
        broken = {b"": "empty", header.encode(): "no row", b"\xff\xfe\x00": "not a CSV",
                  f"{header}\n1,2".encode(): "line 2: 2 cells", f"{header},what\n".encode(): "duplicate column"}
        for content, problem in broken.items():
            with self.subTest(problem=problem):
                (self.folder / "rows.csv").write_bytes(content)
                self.check_refused(["rows.csv", problem], "paper", "rows.csv")


if __name__ == "__main__":
    unittest.main()
