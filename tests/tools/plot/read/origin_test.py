"""Tests what pictures say about where their numbers are from."""
import json
import unittest

import made_up_study
from picture_case import PictureCase


class Origin(PictureCase):
    def texts_of(self, name: str) -> str:
        # matplotlib draws text as outlines, and names each in a comment.
        return (self.folder / name).read_text()

    def test_pictures_name_the_version_and_the_configurations_where_they_are_known(self):
        made_up_study.write(self.folder / "points.csv", made_up_study.six())
        self.run_plot("breakdown", "points.csv")
        self.assertIn("<!-- simulated with equarx-sim; paper", self.texts_of("breakdown.svg"))
        hashes = [{"result": {"config_hash": name}} for name in ("b", "a")]
        (self.folder / "study.json").write_text(json.dumps({"version": "9.8.7", "points": hashes}))
        self.run_plot("breakdown", "points.csv")
        self.assertIn("<!-- simulated with equarx-sim 9.8.7, 2 configs, hash ", self.texts_of("breakdown.svg"))


if __name__ == "__main__":
    unittest.main()
