"""Tests names of axes of sweeps."""
import unittest

from words.axes import axis_text


class Axes(unittest.TestCase):
    def test_pointers_become_words(self):
        for axis, words in {"/tensor/bytes": "tensor on each chip", "/topology/slice": "slice", "label": "collective",
                            "/hardware": "chip", "/workload/batch": "batch", "/hardware/link_bandwidth":
                            "link bandwidth of the chip", "/tensor/values/distribution": "distribution of values",
                            "/faults/links/0/bandwidth_factor": "bandwidth factor of faulty link 0",
                            "/numerics": "numerics", "/collectives/int8/elements_per_scale":
                            "elements per scale of int8", "/a": "a"}.items():
            self.assertEqual(axis_text(axis), words)

    def test_indices_of_collectives_become_labels(self):
        self.assertEqual(axis_text("/collectives/1/format", ["bf16", "int8"]), "format of int8")
        self.assertEqual(axis_text("/collectives/2/format", ["bf16", "int8"]), "format of collective 2")


if __name__ == "__main__":
    unittest.main()
