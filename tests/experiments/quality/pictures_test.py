"""Curves of a picture can be told apart."""
import unittest

import quality  # noqa: F401  finds the modules

from gradients_study import schemes
from pictures import scheme_looks


class LooksTest(unittest.TestCase):
    def test_each_scheme_has_a_look_of_its_own(self):
        looks = scheme_looks([scheme.name for scheme in schemes()])
        self.assertEqual(len({(look.colour, look.line) for look in looks.values()}), len(schemes()))

    def test_a_variant_has_the_colour_of_its_scheme(self):
        looks = scheme_looks(["EQuARX int4", "EQuARX int4, feedback"])
        self.assertEqual(looks["EQuARX int4"].colour, looks["EQuARX int4, feedback"].colour)


if __name__ == "__main__":
    unittest.main()
