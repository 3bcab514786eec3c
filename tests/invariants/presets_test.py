"""Reads the presets of arithmetic again in NumPy, and compares results bit for bit.

Usage: presets_test.py EQUARX_SIM [unittest arguments]
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy

PROGRAM = ""
ELEMENTS = 16 * 1024


def to_bf16(values):
    """float32 rounded to bfloat16, ties to even, as float32."""
    bits = numpy.asarray(values, numpy.float32).view(numpy.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).astype(numpy.uint32).view(numpy.float32)


def stored(values):
    return (values.view(numpy.uint32) >> 16).astype(numpy.uint16)


def inputs(ranks, seed):
    random = numpy.random.default_rng(seed)
    spread = 10.0 ** random.uniform(-3, 3, ELEMENTS)
    return [to_bf16((spread * random.standard_normal(ELEMENTS)).astype(numpy.float32)) for _ in range(ranks)]


def chain(terms, rounds):
    """Sums in order, in float32 or rounded to bfloat16 after each term."""
    total = terms[0].copy()
    for term in terms[1:]:
        total = total + term
        if rounds:
            total = to_bf16(total)
    return to_bf16(total)


def by_owner(tensors, order, rounds):
    """Each shard summed in the order of ranks that `order` gives for its owner."""
    ranks = len(tensors)
    shard = ELEMENTS // ranks
    return numpy.concatenate([chain([tensors[rank][owner * shard:(owner + 1) * shard] for rank in order(owner, ranks)],
                                    rounds) for owner in range(ranks)])


def from_zero(_owner, ranks):
    return range(ranks)


def from_owner(owner, ranks):
    return [(owner + i) % ranks for i in range(ranks)]


def ring(tensors):
    """Two rings, one per direction, over half of the tensor each; a shard's owner adds last."""
    ranks, half = len(tensors), ELEMENTS // 2
    forward = [tensor[:half] for tensor in tensors]
    backward = [tensor[half:] for tensor in tensors]
    shard = half // ranks
    parts = []
    for side, step in ((forward, 1), (backward, -1)):
        for owner in range(ranks):
            order = [(owner + step * (i + 1)) % ranks for i in range(ranks)]
            parts.append(chain([side[rank][owner * shard:(owner + 1) * shard] for rank in order], True))
    return numpy.concatenate(parts)


def fused(place):
    def read(tensors, residual):
        total = tensors[0].copy()
        for tensor in tensors[1:]:
            total = total + tensor
        return to_bf16((total if place == "before" else to_bf16(total)) + residual)
    return read


READINGS = {
    "nccl-ring": ("ring", ring),
    "nccl-nvls": ("nvls", lambda tensors: chain(tensors, False)),
    "trtllm-one-shot": ("one-shot", lambda tensors: chain(tensors, True)),
    "trtllm-two-shot": ("two-shot", lambda tensors: by_owner(tensors, from_zero, True)),
    "sglang-one-shot": ("one-shot", lambda tensors: chain(tensors, False)),
    "vllm-one-shot": ("one-shot", lambda tensors: chain(tensors, False)),
    "vllm-two-shot": ("two-shot", lambda tensors: by_owner(tensors, from_owner, False)),
    "vllm-two-shot-ranks": ("two-shot", lambda tensors: by_owner(tensors, from_zero, False)),
    "aiter-fused-fp32": ("one-shot", fused("before")),
    "aiter-fused": ("one-shot", fused("after")),
}


class Presets(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def save(self, name, values):
        path = self.folder / f"{name}.npy"
        numpy.save(path, stored(values))
        return str(path)

    def computed(self, collective, tensors, residual):
        tensor = {"values": {"files": [self.save(rank, values) for rank, values in enumerate(tensors)]},
                  "residual": {"files": [self.save("residual", residual)]}}
        config = {"hardware": "h100", "topology": {"switch": len(tensors)}, "tensor": tensor,
                  "collectives": [collective]}
        out = self.folder / "out.safetensors"
        made = subprocess.run([PROGRAM, "run", "-", "--output-tensors", out], input=json.dumps(config),
                              capture_output=True, text=True, check=False)
        self.assertEqual(made.returncode, 0, made.stderr)
        return self.result(out)

    def result(self, path):
        """The only bfloat16 tensor of a .safetensors file: results have the tensor's type, the exact sum FP64."""
        data = path.read_bytes()
        size = int.from_bytes(data[:8], "little")
        header = json.loads(data[8:8 + size])
        found = [entry for name, entry in header.items() if name != "__metadata__" and entry["dtype"] == "BF16"]
        self.assertEqual(len(found), 1, header)
        begin, end = found[0]["data_offsets"]
        return numpy.frombuffer(data[8 + size + begin:8 + size + end], numpy.uint16)

    def test_every_preset_has_the_bits_of_its_reading(self):
        for ranks in (4, 8, 16):
            tensors, residual = inputs(ranks, ranks), inputs(1, 99)[0]
            for preset, (algorithm, read) in READINGS.items():
                with self.subTest(preset=preset, ranks=ranks):
                    expected = read(tensors, residual) if "aiter" in preset else read(tensors)
                    got = self.computed({"algorithm": algorithm, "arithmetic": preset}, tensors, residual)
                    self.assertEqual(int(numpy.sum(got != stored(expected))), 0)

    def test_presets_differ_where_they_should(self):
        tensors = inputs(8, 1)
        once, always = chain(tensors, False), chain(tensors, True)
        self.assertGreater(numpy.mean(once != always), 0.3)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
