"""Reads golden vectors again in NumPy, from the files alone, and checks the checker on broken kernels.

Usage: vectors_test.py EQUARX_SIM FOLDER_OF_THE_CHECKER [unittest arguments]
"""
import contextlib
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy

PROGRAM = ""
RANKS = 4
KINDS = {"BF16": "<u2", "F16": "<f2", "F32": "<f4", "F64": "<f8"}
COLLECTIVES = [{"algorithm": "ring", "label": "ring"}, {"algorithm": "one-shot", "label": "one-shot"},
               {"algorithm": "two-shot", "label": "two-shot"},
               {"algorithm": "two-shot", "label": "from owners", "arithmetic": {"order": "owner"}},
               {"algorithm": "one-shot", "label": "bf16 sums", "arithmetic": "trtllm-one-shot"},
               {"algorithm": "one-shot", "format": "int8", "layout": "contiguous", "block": 32, "label": "one int8"},
               {"algorithm": "two-shot", "format": "int8", "layout": "contiguous", "block": 32, "label": "two int8"}]


def f32(bits):
    return (bits.astype(numpy.uint32) << 16).view(numpy.float32)


def round_bf16(values):
    bits = values.astype(numpy.float32).view(numpy.uint32).astype(numpy.uint64)
    up = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(numpy.uint16)
    return numpy.where(numpy.isnan(values), numpy.uint16(0x7FC0), up)


def to_bf16(values):
    return f32(round_bf16(values))


def load(path):
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    tensors = {}
    for name, entry in json.loads(data[8:8 + size]).items():
        begin, end = entry["data_offsets"]
        tensors[name] = numpy.frombuffer(data[8 + size + begin:8 + size + end], KINDS[entry["dtype"]])
    return tensors


def save(path, arrays):
    """bfloat16 bits, or float32."""
    header, data = {}, b""
    for name, array in arrays.items():
        kind = "BF16" if array.dtype == numpy.uint16 else "F32"
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    text = json.dumps(header).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def same(one, other):
    """Equal bits, or both NaN."""
    first, second = f32(one), f32(other)
    return bool(((one == other) | (numpy.isnan(first) & numpy.isnan(second))).all())


def quiet(function):
    def call(*arguments):
        with numpy.errstate(all="ignore"):
            return function(*arguments)
    return call


def chain(terms, rounds=False, start_at_zero=True):
    total = numpy.zeros_like(terms[0]) + terms[0] if start_at_zero else terms[0]
    for term in terms[1:]:
        total = to_bf16(total + term) if rounds else (total + term)
    return round_bf16(total)


def shards(elements):
    size = -(-elements // RANKS)
    return [(rank, rank * size, min((rank + 1) * size, elements)) for rank in range(RANKS) if rank * size < elements]


def int8(values):
    """Encoded in blocks of 32 from the start, and decoded: FP32 scales of amax / 127."""
    out = numpy.empty_like(values)
    for begin in range(0, values.size, 32):
        block = values[begin:begin + 32]
        if not numpy.isfinite(block).all():
            out[begin:begin + 32] = numpy.nan
            continue
        scale = max(numpy.abs(block).max() / numpy.float32(127), numpy.float32(2.0**-126))
        codes = numpy.clip(numpy.rint(block / scale), -127, 127) + 0.0  # no -0
        out[begin:begin + 32] = codes * scale
    return out.astype(numpy.float32)


@quiet
def one_shot(inputs):
    return chain(inputs)


@quiet
def bf16_sums(inputs):
    return chain(inputs, rounds=True)


@quiet
def by_owner(inputs, order, encode=lambda values: values, encodes_own=True):
    """Each shard summed by its owner, in FP32, from an empty sum or from the own term."""
    out = numpy.empty(inputs[0].size, numpy.uint16)
    for owner, begin, end in shards(inputs[0].size):
        ranks = [(owner + i) % RANKS for i in range(RANKS)] if order == "owner" else range(RANKS)
        terms = [inputs[rank][begin:end] if rank == owner and not encodes_own else encode(inputs[rank][begin:end])
                 for rank in ranks]
        total = numpy.zeros_like(terms[0])
        for term in terms:
            total = total + term
        out[begin:end] = round_bf16(encode(total))
    return out


class Golden(unittest.TestCase):
    """Golden vectors of all collectives."""

    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.holder.cleanup)
        cls.folder = pathlib.Path(cls.holder.name)
        config = {"hardware": "h100", "topology": {"switch": RANKS}, "tensor": {"shape": [4096], "dtype": "bf16"},
                  "collectives": COLLECTIVES}
        made = subprocess.run([PROGRAM, "vectors", "-", "-o", cls.folder / "golden"], input=json.dumps(config),
                              capture_output=True, text=True, check=False)
        assert made.returncode == 0, made.stderr
        cls.manifest = json.loads((cls.folder / "golden" / "manifest.json").read_text())

    def cases(self, label):
        collective, = [one for one in self.manifest["collectives"] if one["label"] == label]
        for case in collective["cases"]:
            yield case, load(self.folder / "golden" / case["file"])


class Vectors(Golden):
    """Inputs, sums and results, read again."""

    def check_results(self, label, read):
        count = 0
        for case, tensors in self.cases(label):
            inputs = [f32(tensors[f"input.rank{rank}"]) for rank in range(RANKS)]
            expected = read(case, tensors, inputs)
            for rank in range(RANKS):
                with self.subTest(label=label, case=case["name"], rank=rank):
                    self.assertTrue(same(tensors[f"result.rank{rank}"], expected))
            count += 1
        self.assertGreaterEqual(count, 10)

    def test_exact_sums_are_the_sums_of_the_inputs(self):
        for case, tensors in self.cases("one-shot"):
            with numpy.errstate(all="ignore"):
                total = sum(f32(tensors[f"input.rank{rank}"]).astype(numpy.float64) for rank in range(RANKS))
            numpy.testing.assert_array_equal(tensors["exact"], total, case["name"])

    def test_results_in_plain_formats(self):
        self.check_results("one-shot", lambda case, tensors, inputs: one_shot(inputs))
        self.check_results("bf16 sums", lambda case, tensors, inputs: bf16_sums(inputs))
        self.check_results("from owners", lambda case, tensors, inputs: by_owner(inputs, "owner"))

    def test_every_sum_follows_from_the_tensors_before_it(self):
        """Sums whose terms differ by one rank: that rank's input is added; roundings follow sums."""
        for label in ("ring", "one-shot", "two-shot", "from owners"):
            for case, tensors in self.cases(label):
                self.check_sums(label, case, tensors)

    def check_sums(self, label, case, tensors):
        """Follows each range of elements from term to term; a ring receives rounded sums."""
        ranges = {}
        for entry in case["tensors"]:
            if entry["kind"] in ("sum", "rounded"):
                ranges.setdefault(tuple(entry["elements"][0]), []).append(entry)
        self.assertTrue(ranges)
        for (begin, end), entries in ranges.items():
            total, known = None, set()
            for entry in sorted(entries, key=lambda one: (len(one["terms"]), one["kind"] == "rounded")):
                with self.subTest(label=label, case=case["name"], tensor=entry["name"]), numpy.errstate(all="ignore"):
                    if entry["kind"] == "rounded":
                        total = to_bf16(total)
                    else:
                        for rank in sorted(set(entry["terms"]) - known):
                            term = f32(tensors[f"input.rank{rank}"])[begin:end]
                            if total is None and len(entry["terms"]) == 1:
                                total = numpy.zeros_like(term)  # an accumulator that starts empty
                            total = term if total is None else total + term
                        known = set(entry["terms"])
                    written = tensors[entry["name"]]
                    self.assertEqual(written.size, end - begin)
                    numpy.testing.assert_array_equal(written, total)
            self.assertEqual(known, set(range(RANKS)))
            for rank in range(RANKS):
                self.assertTrue(same(tensors[f"result.rank{rank}"][begin:end], round_bf16(total)))

    def test_ring_terms_are_added_around_the_ring(self):
        for case, _ in self.cases("ring"):
            for entry in case["tensors"]:
                if entry["kind"] == "sum":
                    last, = entry["ranks"]
                    count = len(entry["terms"])
                    around = [{(last + step * i) % RANKS for i in range(count)} for step in (1, -1)]
                    self.assertIn(set(entry["terms"]), around)

    def test_one_shot_int8(self):
        def read(case, tensors, inputs):
            return chain([int8(values) for values in inputs])
        self.check_results("one int8", quiet(read))

    def test_two_shot_int8(self):
        """Terms are encoded but the owner's; sums are in the order of arrival, which the manifest has."""
        def read(case, tensors, inputs):
            out = numpy.empty(inputs[0].size, numpy.uint16)
            for owner, begin, end in shards(inputs[0].size):
                total, known = inputs[owner][begin:end], {owner}
                for entry in case["tensors"]:
                    if entry["kind"] == "sum" and entry["ranks"] == [owner]:
                        for rank in set(entry["terms"]) - known:
                            total = total + int8(inputs[rank][begin:end])
                            known.add(rank)
                out[begin:end] = round_bf16(int8(total))
            return out
        self.check_results("two int8", quiet(read))

    @quiet
    def test_messages_are_codes_times_scales(self):
        for case, tensors in self.cases("two int8"):
            scales = {}
            for entry in case["tensors"]:
                if entry["kind"] not in ("scales", "encoded"):
                    continue
                key = (entry["ranks"][0], *entry["minishard"], len(entry["terms"]))
                if entry["kind"] == "scales":
                    scales[key] = tensors[entry["name"]]
                else:
                    begin, end = entry["elements"][0]
                    scale = scales[key]
                    groups = (numpy.arange(begin, end) - entry["minishard"][0]) // 32
                    codes = tensors[entry["name"]] / scale[groups]
                    finite = numpy.isfinite(codes)
                    numpy.testing.assert_allclose(codes[finite], numpy.rint(codes[finite]), atol=1e-4)

    def test_what_cannot_run_is_listed(self):
        names = {case["name"] for case, _ in self.cases("one-shot")}
        for one in self.manifest["collectives"]:
            listed = {case["name"] for case in one["cases"]} | {case["name"] for case in one["not_run"]}
            self.assertEqual(listed, names)


class Checker(Golden):
    """The checker's verdicts on kernels that break a promise."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.mine = pathlib.Path(holder.name)

    def write(self, label, kernel):
        """Writes what `kernel` makes of the inputs and the golden results, by rank."""
        for case, tensors in self.cases(label):
            inputs = [f32(tensors[f"input.rank{rank}"]) for rank in range(RANKS)]
            golden = [tensors[f"result.rank{rank}"].copy() for rank in range(RANKS)]
            with numpy.errstate(all="ignore"):
                results = kernel(case["name"], inputs, golden)
            if isinstance(results, list):
                results = {f"result.rank{rank}": one for rank, one in enumerate(results)}
            elif not isinstance(results, dict):
                results = {"result": results}
            save(self.mine / f"{case['name']}.safetensors", results)

    def check(self, label, *arguments):
        out, error = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
            code = _vectors.main([str(self.folder / "golden"), str(self.mine), "--collective", label, *arguments])
        return code, out.getvalue() + error.getvalue()

    def expect(self, label, kernel, code, *texts):
        self.write(label, kernel)
        got, text = self.check(label)
        self.assertEqual(got, code, text)
        for expected in texts:
            self.assertIn(expected, text)
        return text

    def test_the_golden_results_agree(self):
        for label in ("ring", "one-shot", "two int8"):
            self.expect(label, lambda name, inputs, golden: golden, 0, "agrees in 11 cases")

    def test_zeros_of_the_other_sign_agree(self):
        def kernel(name, inputs, golden):
            return numpy.where(golden[0] == 0, numpy.uint16(0x8000), golden[0])
        self.expect("one-shot", kernel, 0, "zeros have the other sign")

    def test_another_nan_agrees(self):
        def kernel(name, inputs, golden):
            return numpy.where(numpy.isnan(f32(golden[0])), numpy.uint16(0xFFFF), golden[0])
        self.expect("one-shot", kernel, 0)

    def test_one_rank_differs(self):
        def kernel(name, inputs, golden):
            if name == "normal":
                golden[3][17] ^= 1
            return golden
        text = self.expect("one-shot", kernel, 1, "ranks differ: case normal, element 17 on rank 3", "1 ULP",
                           "differs in 1 of 11 cases")
        self.assertNotIn("owner", text)

    def test_sums_in_bf16(self):
        self.expect("one-shot", lambda name, inputs, golden: bf16_sums(inputs), 1,
                    "rounds after each addition: matches accumulate=bf16, not fp32", "first difference: case")

    def test_sums_in_fp32(self):
        self.expect("bf16 sums", lambda name, inputs, golden: one_shot(inputs), 1,
                    "rounds once: matches accumulate=fp32, not bf16")

    def test_another_order(self):
        self.expect("from owners", lambda name, inputs, golden: one_shot(inputs), 1,
                    "adds in another order: matches the order of ranks")

    def test_flushed_subnormals(self):
        def kernel(name, inputs, golden):
            def flush(values):
                return numpy.where(numpy.abs(values) < 2.0**-126, numpy.float32(0), values)
            total = numpy.zeros_like(inputs[0])
            for term in inputs:
                total = flush(total + flush(term))
            return round_bf16(total)
        self.expect("one-shot", kernel, 1, "subnormals flushed to zero")

    def test_saturation(self):
        def kernel(name, inputs, golden):
            values = f32(golden[0])
            beyond = numpy.isinf(values) & numpy.isfinite(sum(one.astype(numpy.float64) for one in inputs))
            return numpy.where(beyond, (golden[0] & 0x8000) | 0x7F7F, golden[0]).astype(numpy.uint16)
        self.expect("one-shot", kernel, 1, "overflow saturates where Inf is expected")

    def test_an_owner_that_keeps_its_sum(self):
        def kernel(name, inputs, golden):
            tensors = load(self.folder / "golden" / "two-int8" / f"{name}.safetensors")
            for case, _ in self.cases("two int8"):
                if case["name"] != name:
                    continue
                for entry in case["tensors"]:
                    if entry["kind"] == "sum" and len(entry["terms"]) == RANKS:
                        begin, end = entry["elements"][0]
                        golden[entry["ranks"][0]][begin:end] = round_bf16(tensors[entry["name"]])
            return golden
        self.expect("two int8", kernel, 1, "ranks differ", "the owner keeps its own sum")

    def test_npy_files_and_json(self):
        for case, tensors in self.cases("one-shot"):
            numpy.save(self.mine / f"{case['name']}.npy", tensors["result.rank0"])
        code, text = self.check("one-shot", "--json")
        self.assertEqual(code, 0)
        self.assertTrue(json.loads(text)["collectives"][0]["agrees"])

    def test_bad_input_is_named(self):
        self.write("one-shot", lambda name, inputs, golden: golden)
        (self.mine / "ties.safetensors").unlink()
        code, text = self.check("one-shot")
        self.assertEqual((code, text.count("\n")), (2, 1))
        self.assertIn("ties.safetensors: is missing", text)
        save(self.mine / "ties.safetensors", {"result": numpy.zeros(7, numpy.uint16)})
        self.assertRegex(self.check("one-shot")[1], r"ties.safetensors: result: has the shape \[7\]; .* \[256\]")
        save(self.mine / "ties.safetensors", {"result": numpy.zeros(256, numpy.float32)})
        self.assertIn("result is fp32; results are bf16", self.check("one-shot")[1])
        save(self.mine / "ties.safetensors", {"result.rank0": numpy.zeros(256, numpy.uint16)})
        self.assertIn("result.rank1 is missing", self.check("one-shot")[1])
        for arguments, part in (((), "use one of ring, one-shot"), (("--cases", "tie"), "case 'tie'")):
            code, text = self.check("nothing" if not arguments else "one-shot", *arguments)
            self.assertEqual(code, 2)
            self.assertIn(part, text)
        error = io.StringIO()
        with contextlib.redirect_stderr(error):
            self.assertEqual(_vectors.main([str(self.mine), str(self.mine)]), 2)
        self.assertIn("manifest.json: is not a manifest", error.getvalue())


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    sys.path.insert(0, sys.argv.pop(1))
    import _vectors
    unittest.main()
