"""Evaluation of monitors on synthetic trainings."""
import math
import unittest

import quality  # noqa: F401  sets up the module path

from monitors import MONITORS, ceilings, diverged_at, false_alarms, largest_by_place, warned_at


def training(losses, kurtosis=None, stopped_step=None) -> dict:
    """With an evaluation at each step from 1 on, at two places."""
    kurtosis = kurtosis or [3.0] * len(losses)
    return {"step": list(range(1, len(losses) + 1)), "loss": losses, "stopped_step": stopped_step,
            "seen": [{"kurtosis 0/q": 1.0, "kurtosis 1/q": value, "saturated 0/q/a": 0.0, "saturated 0/q/b": 0.5}
                     for value in kurtosis]}


class MonitorsTest(unittest.TestCase):
    def test_a_loss_that_stays_above_the_first_has_diverged(self):
        self.assertEqual(diverged_at(training([4.0, 3.0, 4.5, 3.5, 4.1, 9.0])), 5)
        self.assertIsNone(diverged_at(training([4.0, 9.0, 3.0])))
        self.assertEqual(diverged_at(training([4.0, 3.0], stopped_step=3)), 3)
        self.assertEqual(diverged_at(training([4.0, 3.0, 5.0], stopped_step=4)), 3)

    def test_a_monitor_warns_beyond_twice_its_healthy_maximum(self):
        known = ceilings([training([4.0, 3.0], [3.0, 5.0]), training([4.0], [4.0])])
        self.assertEqual((known["kurtosis"], known["saturated"], known["rms"]), (5.0, 0.25, 0.0))
        warned = warned_at(training([4.0] * 4, [3.0, 10.0, 10.1, 3.0]), known)
        self.assertEqual(warned, dict.fromkeys(MONITORS) | {"kurtosis": 3})

    def test_places_cover_all_layers(self):
        self.assertEqual(largest_by_place("kurtosis", [training([4.0] * 2, [3.0, 5.0]), training([4.0], [4.0])]),
                         {"q": 5.0})

    def test_non_finite_values_warn(self):
        known = ceilings([training([4.0])])
        self.assertEqual(warned_at(training([4.0, 4.0], [3.0, math.nan]), known)["kurtosis"], 2)

    def test_trainings_that_differ_by_twice_are_false_alarms(self):
        healthy = [training([4.0], [value]) for value in (3.0, 4.0, 9.0)]
        self.assertEqual(false_alarms(healthy), dict.fromkeys(MONITORS, 0) | {"kurtosis": 1})
        self.assertEqual(false_alarms(healthy[:1])["kurtosis"], 0)


if __name__ == "__main__":
    unittest.main()
