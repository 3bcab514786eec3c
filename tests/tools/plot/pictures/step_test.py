"""Tests what is in the picture of a step."""
import json
import unittest

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

    def figure(self, content: dict, label: str = ""):
        path = self.folder / "step.json"
        path.write_text(json.dumps(content), encoding="utf-8")
        return picture.draw(step_file.read(path, label))

    def test_a_bar_for_each_task_where_its_stream_is(self):
        [axes] = self.figure(made_up_step.result(1)).axes
        self.assertEqual([text.get_text() for text in axes.get_yticklabels()], ["core", "data", "host"] * 2)
        bars = [(bar.get_y() + bar.get_height() / 2, bar.get_x(), bar.get_width()) for bar in axes.patches]
        self.assertEqual(len(bars), 8)
        place, start, width = bars[0]  # the bucket of the first variant
        self.assertEqual(round(place), 1)
        self.assertAlmostEqual(start, 1e-3)
        self.assertAlmostEqual(width, 2e-3)

    def test_tasks_that_the_time_hangs_on_have_a_border_of_their_own(self):
        [axes] = self.figure(made_up_step.result()).axes
        widths = [bar.get_linewidth() for bar in axes.patches[:3]]
        self.assertGreater(widths[0], widths[2])
        self.assertEqual(widths[0], widths[1])

    def test_texts_can_be_read_and_say_what_is_drawn(self):
        figure = self.figure(made_up_step.result())
        check_legible(self, figure)
        texts = [text for text, _ in drawn_texts(figure)]
        self.assertIn("bf16: 3 ms, of which 1 ms without computing", texts)
        self.assertTrue(any(text.startswith("16 x tpu-v5e, slice 4x4") for text in texts))

    def test_one_variant(self):
        [axes] = self.figure(made_up_step.result(), "int8").axes
        self.assertEqual(len(axes.patches), 3)
        with self.assertRaisesRegex(InputError, "no variant 'int4'; there are: bf16, int8"):
            self.figure(made_up_step.result(), "int4")

    def test_more_groups_than_can_be_told_apart(self):
        with self.assertRaisesRegex(InputError, "common \"group\""):
            self.figure(made_up_step.result(20))

    def test_what_is_no_step(self):
        with self.assertRaisesRegex(InputError, "not a result of a step"):
            self.figure({"runs": []})


if __name__ == "__main__":
    unittest.main()
