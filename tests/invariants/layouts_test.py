"""Packs and unpacks layouts of engines in NumPy, and compares with equarx-sim quantize and dequantize bit for bit.

The rules are the ones of AutoGPTQ (qlinear_cuda.py), AutoAWQ (gemm.py), compressed-tensors (pack_quantized, nvfp4,
mxfp4) and ModelOpt, written anew. Usage: layouts_test.py EQUARX_SIM FOLDER_OF_FORMATS [unittest arguments]
"""
import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

import numpy

PROGRAM = FORMATS = ""
F32 = numpy.float32
TYPES = {"F32": "<f4", "F16": "<f2", "BF16": "<u2", "I8": "i1", "U8": "u1", "I32": "<i4", "I64": "<i8", "F8_E4M3": "u1"}
AWQ_ORDER = [0, 2, 4, 6, 1, 3, 5, 7]
E2M1 = numpy.array([0, 0.5, 1, 1.5, 2, 3, 4, 6], F32)


def read_file(path):
    data = path.read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    tensors = {}
    for name, entry in json.loads(data[8:8 + length]).items():
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        tensors[name] = (entry["dtype"], numpy.frombuffer(data[begin:end], TYPES[entry["dtype"]]).reshape(entry["shape"]))
    return tensors


def write_file(path, tensors):
    header, data = {}, b""
    for name, (dtype, array) in tensors.items():
        bits = numpy.ascontiguousarray(array, TYPES[dtype]).tobytes()
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [len(data), len(data) + len(bits)]}
        data += bits
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def packed(codes, bits):
    """Codes of the first axis as a little-endian stream of bits in int32, for each column."""
    stream = (codes.astype(numpy.uint8)[:, None, :] >> numpy.arange(bits)[None, :, None]) & 1
    stream = stream.reshape(codes.shape[0] * bits, codes.shape[1])
    stream = numpy.pad(stream, ((0, -len(stream) % 32), (0, 0))).reshape(-1, 32, codes.shape[1])
    return (stream.astype(numpy.uint64) << numpy.arange(32, dtype=numpy.uint64)[None, :, None]).sum(1).astype("<u4").view("<i4")


def unpacked(words, bits, count):
    stream = (words.view("<u4")[:, None, :] >> numpy.arange(32, dtype="u4")[None, :, None]) & 1
    stream = stream.reshape(-1, words.shape[1])[:count * bits].reshape(count, bits, words.shape[1])
    return (stream << numpy.arange(bits, dtype="u4")[None, :, None]).sum(1).astype(int)


def from_e4m3(code):
    code = code.astype(int)
    exponent, mantissa = code >> 3 & 15, code & 7
    size = numpy.where(exponent > 0, (8 + mantissa) * 2.0**(exponent - 10), mantissa * 2.0**-9).astype(F32)
    return numpy.where(code & 128, -size, size)


def from_pairs(pairs):
    codes = numpy.stack([pairs & 15, pairs >> 4], -1).reshape(len(pairs), -1)
    return numpy.where(codes & 8, -1, 1).astype(F32) * E2M1[codes & 7]


def groups_of(scales, columns):
    return numpy.repeat(scales, columns // scales.shape[1], 1)


def affine(codes, zeros, scales):
    """codes: outputs x inputs; zeros and scales: outputs x groups."""
    columns = codes.shape[1]
    return (codes - groups_of(zeros, columns)).astype(F32) * groups_of(scales.astype(F32), columns)


def decode(layout, tensors, bits, name="layer."):
    get = {part.removeprefix(name): array for part, (_, array) in tensors.items()}
    if layout in ("gptq", "gptq-v2"):
        inputs, outputs = len(get["g_idx"]), get["qweight"].shape[1]
        codes = unpacked(get["qweight"], bits, inputs).T
        zeros = unpacked(get["qzeros"].T.copy(), bits, outputs) + (layout == "gptq")
        return affine(codes, zeros, get["scales"].T)
    if layout == "awq":
        outputs = get["scales"].shape[1]

        def ordered(words):
            codes = unpacked(words.T.copy(), 4, outputs).reshape(-1, 8, words.shape[0])
            result = numpy.empty_like(codes)
            result[:, AWQ_ORDER] = codes
            return result.reshape(outputs, -1)

        return affine(ordered(get["qweight"]), ordered(get["qzeros"]), get["scales"].T)
    if layout == "pack-quantized":
        outputs, inputs = get["weight_shape"]
        codes = unpacked(get["weight_packed"].T.copy(), bits, inputs).T - (1 << bits - 1)
        zeros = numpy.zeros(get["weight_scale"].shape, int)
        if "weight_zero_point" in get:
            zeros = unpacked(get["weight_zero_point"], bits, outputs) - (1 << bits - 1)
        return affine(codes, zeros, get["weight_scale"])
    if layout == "int-quantized":
        zeros = get.get("weight_zero_point", numpy.zeros(get["weight_scale"].shape, int)).astype(int)
        return affine(get["weight"].astype(int), zeros, get["weight_scale"])
    if layout == "float-quantized":
        return from_e4m3(get["weight"]) * groups_of(get["weight_scale"].astype(F32), get["weight"].shape[1])
    if layout == "mxfp4-pack-quantized":
        codes = from_pairs(get["weight_packed"])
        return codes * groups_of((2.0**(get["weight_scale"].astype(int) - 127)).astype(F32), codes.shape[1])
    codes = from_pairs(get["weight"])  # modelopt-nvfp4
    return codes * groups_of(from_e4m3(get["weight_scale"]) * get["weight_scale_2"][0], codes.shape[1])


def integers(bits, group, symmetric, kind="fp16"):
    scale = {"rule": "abs-max", "type": kind} if symmetric else {"rule": "min-max", "type": kind, "zero_point": "rounded"}
    return {"elements": {"integer": bits}, "groups": {"along": "row", "length": group}, "scale": scale}


CASES = [(layout, bits, symmetric) for layout, widths in
         (("gptq", (2, 3, 4, 8)), ("gptq-v2", (2, 3, 4, 8)), ("awq", (4,)), ("pack-quantized", (4, 8)), ("int-quantized", (8,)))
         for bits in widths for symmetric in (True, False)]


class Layouts(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="equarx-layouts-")
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.values = numpy.random.default_rng(2).standard_t(5, (64, 256)).astype(F32)
        numpy.save(self.folder / "w.npy", self.values)

    def run_program(self, *arguments, code=0):
        done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr if code else done.stdout

    def format_file(self, form):
        path = self.folder / "format.json"
        path.write_text(json.dumps(form))
        return path

    def written(self, layout, form):
        """File in the layout, and the values that it represents."""
        source, file = self.folder / "w.safetensors", self.folder / "q.safetensors"
        write_file(source, {"layer.weight": ("F32", self.values)})
        arguments = ["quantize", source, "--tensor", "layer.weight", "--format", form]
        self.run_program(*arguments, "--layout", layout, "-o", file)
        self.run_program(*arguments, "-o", self.folder / "decoded.npy")
        return file, numpy.load(self.folder / "decoded.npy")

    def read(self, file, *options):
        output = self.folder / "read.npy"
        self.run_program("dequantize", file, "-o", output, *options)
        return numpy.load(output)

    def check_equal(self, values, expected):
        numpy.testing.assert_array_equal(values.view("uint32"), expected.astype(F32).view("uint32"))

    def check_layout(self, layout, form, bits):
        file, expected = self.written(layout, form)
        self.check_equal(decode(layout, read_file(file), bits), expected)
        self.check_equal(self.read(file, "--layout", layout, "--original", self.folder / "w.npy"), expected)

    def test_integers(self):
        for layout, bits, symmetric in CASES:
            with self.subTest(layout=layout, bits=bits, symmetric=symmetric):
                self.check_layout(layout, self.format_file(integers(bits, 64, symmetric)), bits)

    def test_fp4(self):
        for layout, name in (("mxfp4-pack-quantized", "mxfp4"), ("modelopt-nvfp4", "nvfp4")):
            with self.subTest(layout):
                self.check_layout(layout, pathlib.Path(FORMATS) / f"{name}.json", 4)

    def test_fp8(self):
        form = {"elements": {"minifloat": "e4m3", "special": "nan"}, "groups": {"along": "row", "length": 64},
                "scale": {"type": "fp16"}}
        self.check_layout("float-quantized", self.format_file(form), 8)

    def test_files_of_others(self):
        """Files packed here, with codes that no rounding of these scales gives."""
        random = numpy.random.default_rng(3)
        for bits in (2, 3, 4, 8):
            codes, zeros = random.integers(0, 1 << bits, (32, 96)), random.integers(1, 1 << bits, (32, 3))
            scales = random.uniform(0.1, 2, (32, 3)).astype("f2")
            expected = affine(codes, zeros, scales)
            file = self.folder / "theirs.safetensors"
            write_file(file, {"a.b.qweight": ("I32", packed(codes.T, bits)),
                              "a.b.qzeros": ("I32", packed(zeros - 1, bits).T),
                              "a.b.scales": ("F16", scales.T), "a.b.g_idx": ("I32", numpy.arange(96) // 32),
                              "other.weight": ("F32", scales)})
            self.check_equal(self.read(file), expected)
            if bits < 4:
                continue
            write_file(file, {"a.weight_packed": ("I32", packed(codes.T, bits).T), "a.weight_scale": ("F16", scales),
                              "a.weight_zero_point": ("I32", packed(zeros, bits)),
                              "a.weight_shape": ("I64", numpy.array([32, 96]))})
            self.check_equal(self.read(file, "--tensor", "a.weight"), expected)

    def test_awq_of_others(self):
        random = numpy.random.default_rng(4)
        codes, zeros = random.integers(0, 16, (64, 32)), random.integers(0, 16, (2, 32))
        scales = random.uniform(0.1, 2, (2, 32)).astype("f2")

        def words(matrix):
            return packed(matrix.reshape(len(matrix), -1, 8)[:, :, AWQ_ORDER].reshape(matrix.shape).T, 4).T

        file = self.folder / "theirs.safetensors"
        write_file(file, {"qweight": ("I32", words(codes)), "qzeros": ("I32", words(zeros)), "scales": ("F16", scales)})
        self.check_equal(self.read(file), affine(codes.T, zeros.T, scales.T))

    def test_nvfp4_of_others(self):
        random = numpy.random.default_rng(5)
        pairs, scales = random.integers(0, 256, (8, 32)), random.integers(1, 0x7f, (8, 4))
        divisor = F32(1234.5)
        file = self.folder / "theirs.safetensors"
        write_file(file, {"a.weight_packed": ("U8", pairs), "a.weight_scale": ("F8_E4M3", scales),
                          "a.weight_global_scale": ("F32", numpy.array([divisor]))})
        self.check_equal(self.read(file), from_pairs(pairs) * groups_of(from_e4m3(scales) / divisor, 64))

    def test_golden_words(self):
        """Outputs of 0 to 15 with scale 1 and zero point 8, in one group of 32."""
        values = numpy.tile(numpy.arange(-8, 8, dtype=F32), (32, 2))
        self.values = values
        file, decoded = self.written("gptq", self.format_file(integers(4, 32, False)))
        self.check_equal(decoded, values)
        tensors = {name: array for name, (_, array) in read_file(file).items()}
        self.assertEqual([hex(word) for word in tensors["layer.qweight"].view("<u4")[:, 0]],
                         ["0x76543210", "0xfedcba98"] * 2)
        self.assertEqual(hex(tensors["layer.qzeros"].view("<u4")[0, 0]), "0x77777777")
        self.assertEqual(set(tensors["layer.scales"].ravel()), {1})

    def test_refusals(self):
        w, form = self.folder / "w.npy", pathlib.Path(FORMATS) / "gptq-int4-g128.json"
        out = self.folder / "q.safetensors"
        for options, message in ((["--layout", "marlin", "-o", out], "--layout: 'marlin' is no layout"),
                                 (["--layout", "gptq"], "--layout: needs a file"),
                                 (["-o", out], "--output: needs --layout"),
                                 (["--layout", "mxfp4-pack-quantized", "-o", out], "--layout: needs e2m1")):
            with self.subTest(message):
                error = self.run_program("quantize", w, "--format", form, *options, code=2)
                self.assertIn(message, error)
                self.assertEqual(error.count("\n"), 1)
                self.assertFalse(out.exists())
        self.assertIn("--layout", self.run_program("quantize", w, "--layout", "gptq", "-o", out, code=2))
        write_file(out, {"a.qweight": ("I32", numpy.zeros((8, 32)))})
        self.assertIn("'a.qzeros' is missing", self.run_program("dequantize", out, code=2))


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    PROGRAM, FORMATS = sys.argv.pop(1), sys.argv.pop(1)
    unittest.main()
