"""equarx.quantize(): codes, scales and errors."""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import equarx
import numpy
import oracle

PROGRAM = pathlib.Path(os.environ["EQUARX_BUILD"], "equarx-sim")
VALUES = numpy.random.default_rng(3).standard_normal((300, 1001)).astype("f4")


def minishards(values, elements_per_scale=128):
    flat = values.reshape(-1)
    return [flat[first:first + elements_per_scale * 1024] for first in range(0, flat.size, elements_per_scale * 1024)]


class Codes(unittest.TestCase):
    def test_integers_and_fp8_have_the_codes_and_scales_of_plain_numpy(self):
        for name in oracle.LARGEST:
            with self.subTest(name):
                quantized = equarx.quantize(VALUES, name)
                pieces = [oracle.quantize(piece, name) for piece in minishards(VALUES)]
                decoded = numpy.concatenate([codes * scales for codes, scales in pieces]).reshape(VALUES.shape)
                numpy.testing.assert_array_equal(quantized.dequantize(), decoded)
                if name == "int8":
                    self.assertEqual(quantized.codes.dtype, numpy.int8)
                    numpy.testing.assert_array_equal(
                        quantized.codes, numpy.concatenate([codes for codes, _ in pieces]).reshape(VALUES.shape))
                scales = numpy.concatenate([scales[:1024] for _, scales in pieces])
                numpy.testing.assert_array_equal(quantized.scales.reshape(-1), scales)

    def test_codes_times_scales_are_the_values(self):
        quantized = equarx.quantize(VALUES, "int8", elements_per_scale=16)
        elements = numpy.arange(VALUES.size)
        scales = quantized.scales.reshape(-1)[elements // quantized.minishard * 1024 + elements % 1024]
        numpy.testing.assert_array_equal(quantized.codes.reshape(-1).astype("f4") * scales,
                                         quantized.dequantize().reshape(-1))
        blocks = equarx.quantize(VALUES.reshape(-1)[:9600], "int8", layout="contiguous", block=32)
        numpy.testing.assert_array_equal(blocks.codes.astype("f4") * numpy.repeat(blocks.scales, 32),
                                         blocks.dequantize())

    def test_every_format_is_decoded_within_its_error(self):
        for entry in equarx.formats():
            with self.subTest(entry["name"]):
                if entry["shared_scale"]:  # undefined for a single tensor
                    with self.assertRaisesRegex(equarx.InputError, "one scale shared by all ranks"):
                        equarx.quantize(VALUES, entry["name"])
                    continue
                quantized = equarx.quantize(VALUES, entry["name"])
                error = quantized.dequantize().astype("f8") - VALUES
                self.assertAlmostEqual(quantized.mse, (error**2).mean(), delta=1e-12)
                self.assertGreaterEqual(quantized.bits_per_element, entry["bits"])
                self.assertEqual(quantized.codes.nbytes, -(-VALUES.size * entry["bits"] // 8))

    def test_casts_equal_numpys(self):
        half = equarx.quantize(VALUES, "fp16")
        numpy.testing.assert_array_equal(half.codes, VALUES.astype("f2"))
        self.assertIsNone(half.scales)
        numpy.testing.assert_array_equal(half.dequantize(), VALUES.astype("f2").astype("f4"))


class SameAsTheProgram(unittest.TestCase):
    def test_errors_match_the_program(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "values.npy")
            numpy.save(file, VALUES)
            for name in ("int8", "mxfp4", "nvfp4", "bf16"):
                with self.subTest(name):
                    table = subprocess.run([PROGRAM, "quantize", file, "--format", name], check=True,
                                           capture_output=True, text=True).stdout
                    shown = dict(re.findall(r"^ *(\S.*?)  +(\S.*?) *$", table, re.MULTILINE))
                    quantized = equarx.quantize(VALUES, name)
                    self.assertEqual(shown["NMSE"], f"{quantized.nmse:.4g}")
                    self.assertEqual(shown["SQNR"], f"{quantized.sqnr_db:.2f} dB")
                    self.assertEqual(shown["bits per element"], f"{quantized.bits_per_element:.4g}")

    def test_error_messages_match_the_program(self):
        for options, pointer in [({"format": "int9"}, "/format"), ({"format": "int8", "blok": 3}, "/blok"),
                                 ({"format": "bf16", "block": 32}, "/block"),
                                 ({"format": "int8", "rounding": "up"}, "/rounding")]:
            with self.subTest(options):
                with self.assertRaises(equarx.InputError) as caught:
                    equarx.quantize(VALUES, **options)
                self.assertEqual(caught.exception.pointer, pointer)


class Arrays(unittest.TestCase):
    def test_types_and_layouts(self):
        expected = equarx.quantize(VALUES, "int8").codes
        for same in (numpy.asfortranarray(VALUES), VALUES.astype(">f4"), VALUES.tolist()):
            if isinstance(same, list):
                same = numpy.array(same, "f4")
            numpy.testing.assert_array_equal(equarx.quantize(same, "int8").codes, expected)
        self.assertEqual(equarx.quantize(VALUES.astype("f2"), "fp16").mse, 0)
        self.assertEqual(equarx.quantize((VALUES.view("u4") >> 16).astype("u2"), "bf16", dtype="bf16").mse, 0)

    def test_nan_is_counted_and_preserved(self):
        values = VALUES.copy()
        values[0, 0] = numpy.nan
        quantized = equarx.quantize(values, "int8")
        self.assertEqual(quantized.non_finite, 128)  # its scale group
        self.assertTrue(numpy.isnan(quantized.dequantize()[0, 0]))

    def test_an_empty_array_is_refused(self):
        for nothing in (numpy.empty((0, 3), "f4"), numpy.float32(1)):
            with self.assertRaisesRegex(equarx.InputError, "it needs at least one axis and one element"):
                equarx.quantize(nothing)

    def test_its_text_describes_it(self):
        self.assertRegex(repr(equarx.quantize(VALUES)),
                         r"^Quantized\(int8, shape \(300, 1001\), 8\.\d+ bits per element, SQNR \d+\.\d\d dB\)$")


class StoredFormats(unittest.TestCase):
    GIVEN = {"elements": {"integer": 4}, "groups": {"along": "row"}, "scale": {"type": "fp16"}}

    def test_codes_times_scales_are_the_values(self):
        quantized = equarx.quantize(VALUES, self.GIVEN)
        scales = (abs(VALUES).max(1) / numpy.float32(7)).astype("f2").astype("f4")
        numpy.testing.assert_array_equal(quantized.scales, scales)
        codes = numpy.clip(numpy.rint(VALUES / scales[:, None]), -7, 7)
        numpy.testing.assert_array_equal(quantized.codes, codes)
        numpy.testing.assert_array_equal(quantized.dequantize(), codes.astype("f4") * scales[:, None])
        self.assertEqual(quantized.bits_per_element, 4 + 16 / 1001)

    def test_files_and_importance(self):
        formats = pathlib.Path(__file__).resolve().parents[3] / "configs" / "formats"
        quantized = equarx.quantize(VALUES, formats / "squeezellm-3bit.json", importance=VALUES**2)
        self.assertEqual(quantized.apart, round(0.0045 * VALUES.size) + round(0.0005 * VALUES.size))
        self.assertEqual(quantized.tables.size, 8 * 300)

    def test_names_are_stored_formats_too(self):
        by_name = equarx.quantize(VALUES, "int8-row")
        by_file = equarx.quantize(VALUES, "configs/formats/int8-row.json")
        numpy.testing.assert_array_equal(by_name.dequantize(), by_file.dequantize())

    def test_layouts(self):
        values = VALUES[:64, :256]
        form = {**self.GIVEN, "groups": {"along": "row", "length": 32}}
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "w.safetensors"
            for layout in ("gptq", "awq", "pack-quantized"):
                quantized = equarx.quantize(values, form, layout=layout, output=file, name="a.weight")
                decoded = equarx.dequantize(file, name="a")
                numpy.testing.assert_array_equal(decoded.view("u4"), quantized.dequantize().view("u4"))
            for options, message in (({"layout": "gptq"}, "belong together"), ({"output": file}, "belong together"),
                                     ({"layout": "x", "output": file}, "no layout")):
                with self.subTest(message), self.assertRaisesRegex(equarx.InputError, message):
                    equarx.quantize(values, form, **options)
            with self.assertRaisesRegex(equarx.InputError, "no quantized weight"):
                equarx.dequantize(file, name="b")
    def test_feedback_lowers_the_error_of_outputs(self):
        inputs = numpy.random.default_rng(2).standard_normal((50, 8)) @ numpy.random.default_rng(3).standard_normal(
            (8, VALUES.shape[1]))
        plain = equarx.quantize(VALUES, self.GIVEN, inputs=inputs)
        error = ((VALUES - plain.dequantize()).astype(float) @ inputs.T)**2
        self.assertAlmostEqual(plain.output_error / (error.sum() / ((VALUES.astype(float) @ inputs.T)**2).sum()), 1, 5)
        fed = {**self.GIVEN, "feedback": {"order": "largest"}}
        by_inputs = equarx.quantize(VALUES, fed, inputs=inputs)
        self.assertLess(by_inputs.output_error, plain.output_error / 4)
        self.assertLess(plain.mse, by_inputs.mse)
        hessian = inputs.T.astype("f4") @ inputs.astype("f4")
        self.assertLess(equarx.quantize(VALUES, fed, hessian=hessian).output_error, plain.output_error / 4)
        self.assertIsNone(equarx.quantize(VALUES, self.GIVEN).output_error)

    def test_inputs_find_factors_and_widths(self):
        inputs = numpy.random.default_rng(2).standard_normal((40, 1001)) * numpy.linspace(0.1, 5, 1001)
        factors = equarx.quantize(VALUES, {**self.GIVEN, "before": {"factor_steps": 4}}, inputs=inputs)
        self.assertEqual((len(factors.column_factors), factors.bits["before"]), (1001, 32 * 1001))
        widths = equarx.quantize(VALUES, {"elements": {"integer": 3}, "groups": {"along": "row", "length": 143},
                                          "scale": {"rule": "min-max", "zero_point": "rounded"},
                                          "widths": {"by_salience": True}}, inputs=inputs)
        self.assertEqual((len(widths.widths), sum(widths.widths), widths.bits["widths"]), (7, 21, 14))

    def test_unsuitable_arguments_are_refused(self):
        for format, options, message in (("int8", {"output": "a"}, "stored formats"), (self.GIVEN, {"block": 16}, "block"),
                                         ("int8", {"importance": VALUES}, "importance"),
                                         (self.GIVEN, {"importance": VALUES[:2]}, "shape"),
                                         ("int8", {"inputs": VALUES}, "inputs is for stored formats"),
                                         (self.GIVEN, {"inputs": VALUES[:, :5]}, r"give \(any, 1001\)"),
                                         (self.GIVEN, {"hessian": VALUES}, r"give \(1001, 1001\)"),
                                         (self.GIVEN, {"inputs": VALUES, "hessian": VALUES}, "one of both"),
                                         ({**self.GIVEN, "feedback": {"order": "columns"}}, {}, "inputs of the layer"),
                                         ({"elements": {"integer": 9}}, {}, "/elements/integer"),
                                         ({**self.GIVEN, "groups": {"along": "row", "length": 2}}, {}, "divisor")):
            with self.subTest(message), self.assertRaisesRegex(equarx.InputError, message):
                equarx.quantize(VALUES, format, **options)


if __name__ == "__main__":
    unittest.main()
