"""Tests the picture of a step."""
import json
import unittest

from matplotlib.colors import to_hex

import made_up_step
from legible import check_legible, drawn_texts
from picture_case import PictureCase

from drawing import style
from pictures import step as picture
from read import step as step_file
from read.errors import InputError


class Step(PictureCase):
    def setUp(self):
        super().setUp()
        style.use()

    @staticmethod
    def bars(axes) -> list:
        """The bars of tasks, without the outlines of the critical path."""
        return [patch for patch in axes.patches if patch.get_fill()]

    def figure(self, content: dict, label: str = ""):
        path = self.folder / "step.json"
        path.write_text(json.dumps(content), encoding="utf-8")
        return picture.draw(step_file.read(path, label))

    def test_each_task_has_a_bar_in_its_stream(self):
        [axes] = self.figure(made_up_step.result(1)).axes
        self.assertEqual([text.get_text() for text in axes.get_yticklabels()], ["core", "data", "host"] * 2)
        bars = [(bar.get_y() + bar.get_height() / 2, bar.get_x(), bar.get_width()) for bar in self.bars(axes)]
        self.assertEqual(len(bars), 8)
        place, start, width = bars[0]  # the bucket of the first variant
        self.assertEqual(round(place), 1)
        self.assertAlmostEqual(start, 1e-3)
        self.assertAlmostEqual(width, 2e-3)

    def test_exactly_the_critical_path_is_outlined(self):
        content = made_up_step.result()
        for variant in content["variants"]:
            variant["tasks"].append({"name": "late", "group": "bucket", "stream": "data", "start_s": variant["time_s"],
                                     "end_s": variant["time_s"] + 1e-4})
            variant["critical_path"].append("late")
            variant["time_s"] += 1e-4
        figure = self.figure(content)
        [axes] = figure.axes
        outlines = [patch for patch in axes.patches if to_hex(patch.get_edgecolor()) == style.VERMILION.lower()]
        self.assertEqual({patch.get_fill() for patch in outlines}, {False})
        places = [(round(patch.get_y() + patch.get_height() / 2), round(patch.get_x(), 6),
                   round(patch.get_x() + patch.get_width(), 6)) for patch in outlines]
        self.assertEqual(places, [(0, 0, 1e-3), (1, 1e-3, 3.1e-3), (3, 0, 1e-3), (4, 1e-3, 2.6e-3)])
        self.assertIn("critical path", [text for text, _ in drawn_texts(figure)])

    def test_texts_are_legible_and_describe_the_step(self):
        figure = self.figure(made_up_step.result())
        check_legible(self, figure)
        texts = [text for text, _ in drawn_texts(figure)]
        self.assertIn("bf16: 3 ms, 1 ms of it exposed", texts)
        self.assertTrue(any(text.startswith("16 x tpu-v5e, slice 4x4") for text in texts))

    def test_a_single_variant(self):
        [axes] = self.figure(made_up_step.result(), "int8").axes
        self.assertEqual(len(self.bars(axes)), 3)
        with self.assertRaisesRegex(InputError, "no variant 'int4'; there are: bf16, int8"):
            self.figure(made_up_step.result(), "int4")

    def test_rejects_too_many_groups(self):
        with self.assertRaisesRegex(InputError, "common \"group\""):
            self.figure(made_up_step.result(20))

    def test_rejects_other_and_malformed_files(self):
        with self.assertRaisesRegex(InputError, "is a result of .*; this picture needs a result of .* of a step"):
            self.figure({"runs": []})
        content = made_up_step.result()
        del content["config"]
        with self.assertRaisesRegex(InputError, "step.json: malformed; expected a result of .*: no key 'config'$"):
            self.figure(content)


if __name__ == "__main__":
    unittest.main()
