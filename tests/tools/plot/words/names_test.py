"""Tests descriptions of configurations."""
import unittest

from words import names


class Names(unittest.TestCase):
    def test_values_of_axes_have_words(self):
        self.assertEqual(names.short('{"torus": "4x4"}'), "torus 4x4")
        self.assertEqual(names.short('{"files": ["a/b.npy"]}'), "files b.npy")
        self.assertEqual(names.short("[not JSON"), "[not JSON")
        self.assertEqual(names.short("1 MiB"), "1 MiB")

    def test_topologies_have_kind_size_and_number_of_slices(self):
        self.assertEqual(names.topology_text({"fully-connected": 8}), "fully-connected 8")
        self.assertEqual(names.topology_text({"switch": 8}), "switch 8")
        network = {"slices": 2, "bandwidth": "25 GB/s", "latency": "10 us", "chips_per_port": 8}
        self.assertEqual(names.topology_text({"slice": "4x4", "network": network}), "2 x slice 4x4")

    def test_descriptions_of_collective_and_machine(self):
        config = {"collective": "all-gather", "hardware": "tpu-v5e", "topology": {"slice": "4x2"},
                  "tensor": {"bytes": "1 MiB", "dtype": "bf16"}}
        self.assertEqual(names.collective_text(config), "AllGather of 1 MiB of bf16")
        self.assertEqual(names.machine_text(config, 8), "8 x tpu-v5e, slice 4x2")
        shaped = dict(config, tensor={"shape": [3, 5], "dtype": "fp32"})
        self.assertEqual(names.collective_text(shaped), "AllGather of fp32[3, 5]")

    def test_changed_parameters_are_in_the_name_of_the_chip(self):
        self.assertEqual(names.chip_text("tpu-v5e"), "tpu-v5e")
        self.assertEqual(names.chip_text({"based_on": "tpu-v5e"}), "tpu-v5e")
        changed = {"based_on": "tpu-v5e", "link_bandwidth": "90 GB/s", "dma_queue": {"value": 3, "class": "assumed"}}
        self.assertEqual(names.chip_text(changed), "tpu-v5e (link_bandwidth 90 GB/s, dma_queue 3)")
        self.assertEqual(names.machine_text({"hardware": {"based_on": "tpu-v5e", "dma_queue": 3},
                                             "topology": {"ring": 8}}, 8), "8 x tpu-v5e (dma_queue 3), ring 8")

    def test_descriptions_of_workloads(self):
        config = {"collective": "all-gather", "tensor": {"bytes": "1 MiB", "dtype": "bf16"}}
        self.assertEqual(names.run_text(config), "AllGather of 1 MiB of bf16")
        prefill = {"model": "models/my.json", "phase": "prefill", "tokens": 4096, "batch": 2}
        self.assertEqual(names.run_text(config | {"workload": prefill}), "Prefill of my.json, 4096 tokens x 2")
        decode = {"model": "gemma3-27b", "phase": "decode", "context": 512, "batch": 8}
        self.assertEqual(names.run_text(config | {"workload": decode}),
                         "Decoding of gemma3-27b, one token each of 8 sequences of 512")

    def test_descriptions_of_tensor_values(self):
        for values, text in (({"distribution": "normal"}, "values from N(0, 1)"),
                             ({"distribution": "uniform", "ranks": "identical"},
                              "uniform values, the same on all ranks"),
                             ({"files": ["a/b.npy"]}, "values from b.npy"),
                             ({"files": ["a.npy", "b.npy"]}, "values from 2 files"), ({}, "")):
            self.assertEqual(names.values_text({"values": values}), text)


if __name__ == "__main__":
    unittest.main()
