"""Curves of a picture are distinguishable, and axis labels are legible."""
import pathlib
import unittest
from unittest import mock

import quality  # noqa: F401  sets up the module path

import pictures
from gradients_study import schemes
from pictures import scheme_looks


class LooksTest(unittest.TestCase):
    def test_each_scheme_has_a_style_of_its_own(self):
        looks = scheme_looks([scheme.name for scheme in schemes()])
        self.assertEqual(len({(look.colour, look.line) for look in looks.values()}), len(schemes()))

    def test_a_variant_has_the_colour_of_its_scheme(self):
        looks = scheme_looks(["int4, two-shot", "int4, two-shot, feedback"])
        self.assertEqual(looks["int4, two-shot"].colour, looks["int4, two-shot, feedback"].colour)


class AxesTest(unittest.TestCase):
    def test_powers_of_ten_are_rendered_as_formulas(self):
        rows = [{"ranks": ranks, "only": "", "nmse": nmse, "perplexity_change": nmse, "change_low": nmse / 2,
                 "change_high": nmse * 2, "kl_nats": nmse, "way": "ring"} for ranks in (4, 8) for nmse in (1e-4, 1e-2)]
        labels = []

        def look(figure, _folder, _name):
            figure.canvas.draw()
            for axes in figure.axes:
                labels.extend(axes.xaxis.get_ticklabels() + axes.yaxis.get_ticklabels())

        with mock.patch.object(pictures, "_save", look):
            pictures.inference(pathlib.Path(), rows, rows)
        powers = [label for label in labels if "$" in label.get_text()]
        self.assertTrue(powers)
        self.assertTrue(all(label.get_parse_math() for label in powers))


if __name__ == "__main__":
    unittest.main()
