"""equarx.Codec: values by the user's functions, time by stated bits and operations."""
import os
import pickle
import tempfile
import threading
import unittest

import equarx
import numpy

BLOCK = 32
ALGORITHMS = ["equarx", "torus", "two-shot", "one-shot", "halving-doubling", "recursive-doubling"]


def mxint8_encode(x):
    """OCP MX INT8: E8M0 scales, codes in units of 2^-6."""
    largest = numpy.abs(x).max(axis=1, keepdims=True)
    exponent = numpy.floor(numpy.log2(numpy.where(largest == 0, 1, largest)))
    codes = numpy.clip(numpy.rint(x / 2.0**exponent * 64), -127, 127)
    return codes.astype(numpy.int8), exponent.astype(numpy.int8)


def mxint8_decode(codes, exponent):
    return codes / numpy.float32(64) * numpy.float32(2) ** exponent


def mxint8(**options):
    return equarx.Codec(mxint8_encode, mxint8_decode, 8.25, (8, 3), block=BLOCK, name="mine", **options)


def gradients(shape=(8, 64, 1024)):
    return numpy.random.default_rng(1).standard_normal(shape).astype("float32")


class Values(unittest.TestCase):
    def test_equals_the_built_in_format_bit_for_bit(self):
        arrays = gradients()
        for algorithm in ALGORITHMS:
            with self.subTest(algorithm):
                topology = {"slice": "4x2"} if algorithm == "torus" else {"switch": 8}
                hardware = "tpu-v5e" if algorithm == "torus" else "h100"
                if algorithm == "equarx":
                    topology, hardware = {"ring": 8}, "tpu-v5e"
                own, built_in = (equarx.allreduce(arrays, format, algorithm=algorithm, topology=topology,
                                                  hardware=hardware) for format in (mxint8(), "mxint8"))
                self.assertTrue(numpy.array_equal(own.result, built_in.result))
                self.assertAlmostEqual(own.sqnr_db, built_in.sqnr_db, places=9)  # sums in another order

    def test_other_collectives_and_types(self):
        arrays = gradients((4, 8, 1024)).astype("float16")
        for function in (equarx.reduce_scatter, equarx.all_gather, equarx.all_to_all, equarx.broadcast):
            own, built_in = (function(arrays, format).result for format in (mxint8(), "mxint8"))
            self.assertTrue(numpy.array_equal(own, built_in), function.__name__)

    def test_a_schedule_of_the_user_can_use_it(self):
        @equarx.schedule("exchange", layout="any", microshards=1)
        def exchange(w):
            own = [w.encode(part) for part in w.parts()]
            sent = [[w.send(one, w.channel(offset)) for one in own] for offset in range(1, w.ranks)]
            for one, messages in zip(own, zip(*sent)):
                for message in messages:
                    w.wait(message)
                for micro in one.part.micros:
                    w.reduce(one, micro)
                    w.store(one.part, micro)

        arrays = gradients((4, 16, 1024))
        mine = equarx.allreduce(arrays, mxint8(), algorithm=exchange, time=True)
        built_in = equarx.allreduce(arrays, "mxint8", algorithm="one-shot")
        self.assertTrue(numpy.array_equal(mine.result, built_in.result))
        self.assertGreater(mine.time, 0)

    def test_results_do_not_depend_on_threads(self):
        arrays = gradients()
        one, several = (equarx.allreduce(arrays, mxint8(), threads=threads).result for threads in (1, 4))
        self.assertTrue(numpy.array_equal(one, several))

    def test_error_feedback_makes_the_mean_over_steps_exact(self):
        arrays, lost = gradients((4, 4, 1024)), numpy.zeros((4, 4, 1024), "float32")
        coarse = equarx.Codec(lambda x: numpy.rint(x), lambda c: c, 4)
        total = sum(equarx.allreduce(arrays, coarse, feedback=lost).result.astype("float64") for _ in range(16))
        exact = arrays.sum(0, dtype="float64")
        once = equarx.allreduce(arrays, coarse).result
        self.assertLess(((total / 16 - exact) ** 2).mean(), 0.02 * ((once - exact) ** 2).mean())

    def test_short_blocks_are_filled(self):
        arrays = gradients((3, 1001))  # no multiple of blocks or ranks
        outcome = equarx.allreduce(arrays, mxint8())
        self.assertEqual(outcome.result.shape, (1001,))
        self.assertGreater(outcome.sqnr_db, 35)

    def test_functions_of_torch(self):
        try:
            import torch
        except ImportError:
            self.skipTest("needs PyTorch")
        own, same = (equarx.Codec(lambda x: x.to(torch.bfloat16), decode, 16, framework="torch", name="bf16")
                     for decode in (lambda c: c.float(), lambda c: c))
        arrays = gradients((4, 1024))
        self.assertTrue(numpy.array_equal(own.round_trip(arrays), same.round_trip(arrays)))
        self.assertTrue(numpy.array_equal(own.round_trip(arrays[0]),
                                          torch.from_numpy(arrays[0]).to(torch.bfloat16).float().numpy()))
        equarx.allreduce(arrays, own)

    def test_round_trip_keeps_shape_and_input(self):
        arrays = gradients((2, 3, 100))
        before = arrays.copy()
        self.assertEqual(mxint8().round_trip(arrays).shape, arrays.shape)
        self.assertTrue(numpy.array_equal(arrays, before))


class Time(unittest.TestCase):
    def test_follows_from_the_stated_bits(self):
        arrays = gradients((8, 1 << 20))
        parts = [equarx.allreduce(arrays, equarx.Codec(mxint8_encode, mxint8_decode, bits, block=BLOCK),
                                  time=True).timing.breakdown for bits in (4, 8, 16)]
        self.assertEqual([one.scales_s for one in parts], [0, 0, 0])
        for one, factor in zip(parts, (1, 2, 4)):
            self.assertAlmostEqual(one.payload_s / parts[0].payload_s, factor, places=9)

    def test_follows_from_the_stated_operations(self):
        arrays = gradients((8, 1 << 18))
        cheap, dear = (equarx.allreduce(arrays, equarx.Codec(mxint8_encode, mxint8_decode, 8, operations, block=BLOCK),
                                        time=True).time for operations in (0, 4000))
        self.assertGreater(dear, 2 * cheap)

    def test_keys_simulate_it_in_a_configuration(self):
        codec = mxint8()
        config = {"hardware": "tpu-v5e", "topology": {"ring": 8}, "tensor": {"shape": [64, 1024], "dtype": "fp32"},
                  "numerics": "off", "collectives": [{"algorithm": "ring"}, {"algorithm": "equarx", **codec.keys}]}
        result = equarx.run(config)
        self.assertEqual(list(result.runs), ["ring fp32", "equarx mine"])
        timed = equarx.allreduce(gradients(), codec, time=True).time
        self.assertEqual(result.runs["equarx mine"].time, timed)
        self.assertEqual(equarx.run(result.config).runs["equarx mine"].time, timed)
        with self.assertRaisesRegex(equarx.InputError, "/collectives/1/format: 'own' is coded by functions.*\"numerics\": \"off\""):
            equarx.run({key: value for key, value in config.items() if key != "numerics"})


class Comparison(unittest.TestCase):
    def test_of_a_codec_with_built_in_formats(self):
        compared = equarx.compare_formats(gradients((8, 8, 1024)), [mxint8(), "mxint8", "int8"],
                                          algorithms=["two-shot", "one-shot"],
                                          machines={"a": {"topology": {"switch": 8}, "hardware": "h100"},
                                                    "b": {"topology": {"switch": 8}, "hardware": "a100"}})
        rows = compared.to_rows()
        self.assertEqual(len(rows), 2 * 2 * 3)
        self.assertEqual(rows[0]["sqnr_db"], rows[1]["sqnr_db"])
        self.assertEqual((rows[0]["bits_per_element"], rows[1]["bits_per_element"]), (8.25, 8.25))
        self.assertEqual(len(str(compared).splitlines()), 13)
        self.assertIn("<td>mine</td>", compared._repr_html_())
        for row in rows:
            self.assertGreater(row["speedup"], 0)

    def test_of_names_of_other_tools_and_of_casts(self):
        arrays = gradients((8, 1024))
        casts = equarx.compare_formats(arrays, ["int8-cast", "bf16"], algorithms=["ring"]).to_rows()
        self.assertEqual([row["bits_per_element"] for row in casts], [8, 16])
        for mine, other in (("float8_e4m3", "fp8-e4m3"), ("mxfp8_e4m3", "mxfp8-e4m3")):
            first, second = equarx.compare_formats(arrays, [mine, other]).to_rows()
            self.assertEqual(first | {"format": other}, second)

    def test_of_wrong_lists(self):
        for arguments in ({"formats": "int8"}, {"formats": []}, {"formats": ["int8"], "algorithms": "ring"},
                          {"formats": ["int8"], "collective": "all-to-all"}):
            with self.assertRaises(equarx.InputError):
                equarx.compare_formats(gradients((8, 1024)), **arguments)


class BadInput(unittest.TestCase):
    def refused(self, pattern, encode=mxint8_encode, decode=mxint8_decode, bits=8, operations=0, **options):
        with self.assertRaisesRegex(equarx.InputError, pattern) as caught:
            equarx.Codec(encode, decode, bits, operations, **{"block": BLOCK, **options})
        return caught.exception

    def test_functions_that_raise(self):
        error = self.refused("codec 'fails': encode raised KeyError: 'x'", encode=lambda x: {}["x"], name="fails")
        self.assertIsInstance(error.__cause__, KeyError)
        self.refused("decode raised TypeError", decode=lambda codes: codes)

    def test_functions_that_raise_later(self):
        calls = []

        def encode(x):
            calls.append(threading.current_thread())
            if len(calls) > 40:
                raise RuntimeError("out of luck")
            return mxint8_encode(x)

        codec = equarx.Codec(encode, mxint8_decode, 8, block=BLOCK)
        with self.assertRaisesRegex(equarx.InputError, "codec 'encode': encode raised RuntimeError: out of luck"):
            equarx.allreduce(gradients(), codec)
        equarx.allreduce(gradients((2, 1024)), mxint8())  # the package is still usable

    def test_results_of_other_shapes_and_types(self):
        self.refused(r"decode returned the shape \(7, 31\); encode got \(7, 32\)", decode=lambda c, e: (c * 1.0)[:, 1:])
        self.refused("decode returned int8; it must return an array of floating-point", decode=lambda c, e: c)
        self.refused("decode returned", decode=lambda c, e: "text")
        self.refused("decode returned", decode=lambda c, e: None)

    def test_functions_that_change_their_input(self):
        def encode(x):
            x *= 2
            return x, 0
        self.refused("read-only; it changes its input: copy that first", encode=encode)

    def test_functions_that_are_not_deterministic(self):
        self.refused("must be deterministic", encode=lambda x: (x + numpy.random.rand(), 0), decode=lambda c, e: c)

    def test_blocks_that_depend_on_each_other(self):
        def encode(x):
            scale = numpy.abs(x).max()  # of the whole message
            return numpy.rint(x / scale * 7), scale
        self.refused("the values of blocks of 32 depend on others", encode=encode, decode=lambda c, s: c * s)
        self.refused("the values of elements depend on others", encode=encode, decode=lambda c, s: c * s, block=None)

    def test_values_out_of_range(self):
        for bits in (0, -1, 65, "8", float("nan"), None, True):
            self.refused("bits_per_element must be a number above 0, up to 64", bits=bits)
        for operations in (-1, (1, 2, 3), "1", (1, None)):
            self.refused("ops_per_element must be", operations=operations)
        for block in (0, -1, 1.5, True):
            self.refused("block must be a whole number from 1", block=block)
        self.refused("encode must be a function", encode=3)
        self.refused("framework must be one of", framework="tensorflow")
        self.refused("name must be", name="\n")

    def test_a_codec_in_a_configuration_names_the_remedy(self):
        with self.assertRaisesRegex(equarx.InputError, "Codec"):
            equarx.run({"hardware": "tpu-v5e", "topology": {"ring": 8}, "tensor": {"bytes": "1 MiB"},
                        "collectives": [{"algorithm": "equarx", "format": mxint8()}]})

    def test_commands_that_compute_values_refuse_an_own_format(self):
        config = {"hardware": "tpu-v5e", "topology": {"ring": 8}, "tensor": {"bytes": "1 MiB"}, "numerics": "off",
                  "collectives": [{"algorithm": "equarx", **mxint8().keys}]}
        with tempfile.TemporaryDirectory() as folder:
            for command, *more in ((equarx.tune,), (equarx.advise,), (equarx.vectors, os.path.join(folder, "v"))):
                with self.subTest(command.__name__), self.assertRaisesRegex(equarx.InputError, "coded by functions"):
                    command(config, *more)

    def test_pickling(self):
        codec = pickle.loads(pickle.dumps(mxint8()))  # functions of a module
        self.assertTrue(numpy.array_equal(codec.round_trip(gradients()[0]), mxint8().round_trip(gradients()[0])))

    def test_a_forked_child_can_use_it(self):
        codec, arrays = mxint8(), gradients((2, 1024))
        expected = equarx.allreduce(arrays, codec).result
        child = os.fork()
        if child == 0:
            os._exit(0 if numpy.array_equal(equarx.allreduce(arrays, codec).result, expected) else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)


if __name__ == "__main__":
    unittest.main()
