"""Collectives on arrays: bits, errors, and rejected arguments."""
import subprocess
import sys
import unittest

import equarx
import numpy
import oracle

RANKS = 8


def normal(*shape, dtype="float32", seed=1):
    return numpy.random.default_rng(seed).standard_normal(shape).astype(dtype)


def bits(array):
    return numpy.ascontiguousarray(array).view(f"u{array.dtype.itemsize}")


class Bits(unittest.TestCase):
    def same(self, outcome, expected):
        numpy.testing.assert_array_equal(bits(outcome.result), bits(expected))

    def test_rings_have_the_bits_of_plain_numpy(self):
        for size in (8009, 65537, RANKS * 2 * 2 * 3 * 1024):
            tensors = normal(RANKS, size)
            for name in oracle.LARGEST:
                for style in ("full-loop", "semi-loop"):
                    with self.subTest(size=size, format=name, style=style):
                        self.same(equarx.allreduce(tensors, name, ring=style, minishards=2, microshards=2),
                                  oracle.ring(tensors, name, style, 2))

    def test_a_shared_scale_derives_from_the_largest_magnitude_of_all_ranks(self):
        tensors = normal(4, 3000)
        largest = numpy.abs(tensors).max()
        step = numpy.float32(4) * largest * numpy.float32(1 / 127)
        summed = equarx.allreduce(tensors, "global-qsgd-int8")
        self.assertEqual(summed.ranks, 4)
        codes = summed.result / step
        numpy.testing.assert_allclose(codes, codes.round(), atol=1e-4)
        self.assertLess(numpy.abs(summed.result - tensors.sum(0, dtype="f8")).max(), 4 * step)
        # Without headroom the largest of equal tensors saturates at one of them; with headroom for
        # all ranks it does not.
        same = numpy.ones((4, 512), "f4") * 448
        for mu, largest_sum in (("post-scaling", 448), (0.25, 4 * 448), ("pre-scaling", 4 * 448)):
            result = equarx.allreduce(same, "fp8lm-e4m3", mu=mu).result
            numpy.testing.assert_array_equal(result, numpy.full(512, largest_sum, "f4"))

    def test_two_shot_has_the_bits_of_plain_numpy(self):
        for ranks in (2, 5, 8):
            tensors = normal(ranks, 40000)
            for name in oracle.LARGEST:
                with self.subTest(ranks=ranks, format=name):
                    self.same(equarx.allreduce(tensors, name, algorithm="two-shot", minishards=3, microshards=1),
                              oracle.two_shot(tensors, name, 3))

    def test_errors_are_those_of_the_result(self):
        tensors = normal(RANKS, 30000)
        outcome = equarx.allreduce(tensors, "int8")
        exact = tensors.astype("f8").sum(axis=0)
        error = outcome.result - exact
        self.assertAlmostEqual(outcome.mse, (error**2).mean(), delta=1e-12)
        self.assertAlmostEqual(outcome.nmse, (error**2).sum() / (exact**2).sum(), delta=1e-12)
        self.assertAlmostEqual(outcome.sqnr_db, -10 * numpy.log10(outcome.nmse))
        self.assertAlmostEqual(outcome.max_abs_error, numpy.abs(error).max())
        self.assertAlmostEqual(outcome.mean_signed_error, error.mean())
        self.assertEqual(outcome.errors()["mse"], outcome.mse)

    def test_the_number_of_threads_changes_no_bit(self):
        tensors = normal(4, 100000)
        one, two = (equarx.allreduce(tensors, "int4", threads=threads) for threads in (1, 2))
        self.same(one, two.result)
        self.assertEqual(one.errors(), two.errors())

    def test_stochastic_rounding_follows_its_seed(self):
        tensors = normal(4, 100000)
        first, again, other = (equarx.allreduce(tensors, "int8", rounding="stochastic", seed=seed).result
                               for seed in (5, 5, 6))
        numpy.testing.assert_array_equal(first, again)
        self.assertTrue((first != other).any())

    def test_results_equal_those_of_experiments(self):
        import pathlib
        import tempfile
        tensors = normal(RANKS, 64, 512)
        outcome = equarx.allreduce(tensors, "fp8-e4m3", topology={"slice": "4x2"}, time=True)
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "ranks.npy")
            numpy.save(file, tensors)
            run = equarx.run(outcome.config, {"/tensor": {"values": {"files": [str(file)]}}, "/numerics": "on"})
        numerics = run.runs["collective"].numerics
        for name, value in outcome.errors().items():
            self.assertEqual(numerics[name], value, name)
        self.assertEqual(run.runs["collective"].time, outcome.time)


class Kinds(unittest.TestCase):
    def test_plain_collectives_move_the_right_data(self):
        tensors = normal(4, 4096)
        gathered = equarx.all_gather(tensors)
        for rank in range(4):
            for part in gathered.shard(rank):
                numpy.testing.assert_array_equal(gathered.result[part], tensors[rank][part])
        numpy.testing.assert_array_equal(equarx.broadcast(tensors).of_rank(3), tensors[0])
        numpy.testing.assert_array_equal(equarx.all_to_all(tensors).result, tensors)

    def test_quantized_values_that_are_only_moved_are_off_by_half_a_step(self):
        tensors = normal(4, 4096)
        largest = numpy.abs(tensors).max()
        for outcome, sent in ((equarx.all_to_all(tensors, "int8"), tensors), (equarx.broadcast(tensors, "int8"), tensors[0])):
            errors = numpy.abs(outcome.result - sent)
            self.assertGreater(errors.max(), 0)
            self.assertLessEqual(errors.max(), largest / 127 / 2 * 1.001)
        sent = equarx.all_to_all(tensors, "int8")
        for rank in range(4):  # a rank's own shard does not travel
            for part in sent.shard(rank):
                numpy.testing.assert_array_equal(sent.result[rank][part], tensors[rank][part])

    def test_the_result_of_a_rank_is_its_shard(self):
        tensors = normal(4, 10000)
        whole = equarx.reduce_scatter(tensors, "int8")
        parts = numpy.concatenate([whole.of_rank(rank) for rank in range(4)])
        self.assertEqual(parts.size, 10000)
        numpy.testing.assert_array_equal(numpy.sort(parts), numpy.sort(whole.result))
        sent = equarx.all_to_all(tensors)
        shard = numpy.concatenate([numpy.arange(10000)[part] for part in sent.shard(2)])
        numpy.testing.assert_array_equal(sent.of_rank(2), tensors[:, shard])
        self.assertIs(equarx.allreduce(tensors).of_rank(1).dtype, tensors.dtype)

    def test_a_mean_over_neighbours_differs_by_rank(self):
        tensors = normal(4, 1000)
        outcome = equarx.neighbor_average(tensors, time=True)  # on a ring: two neighbours, weights of a third
        third = numpy.float32(1) / numpy.float32(3)
        own = numpy.float32(1) - third - third
        for rank in range(4):
            expected = own * tensors[rank]
            for neighbor in sorted(((rank - 1) % 4, (rank + 1) % 4)):
                expected = expected + third * tensors[neighbor]
            numpy.testing.assert_array_equal(outcome.of_rank(rank), expected)
        self.assertEqual(outcome.result.shape, (4, 1000))
        self.assertGreater(outcome.time, 0)
        with self.assertRaisesRegex(equarx.InputError, "fully-connected"):
            equarx.neighbor_average(tensors, topology={"switch": 4})

    def test_a_residual_is_refused(self):
        with self.assertRaisesRegex(equarx.InputError, "/collectives/0/arithmetic: adds a residual"):
            equarx.allreduce(numpy.ones((4, 512), "f4"), algorithm="two-shot", arithmetic={"residual": "after"})

    def test_auto_reports_its_choice(self):
        outcome = equarx.allreduce(normal(8, 2048), "int8", topology={"slice": "4x2"}, algorithm="auto", time=True)
        self.assertNotEqual(outcome.config["collectives"][0]["algorithm"], "auto")
        self.assertGreater(outcome.time, 0)

    def test_time_is_simulated_only_on_request(self):
        tensors = normal(8, 2048)
        self.assertIsNone(equarx.allreduce(tensors, "int8").time)
        self.assertEqual(equarx.allreduce(tensors, "int8", time=True).timing.algorithm, "equarx")


class Arrays(unittest.TestCase):
    def test_a_list_is_as_good_as_a_leading_axis(self):
        tensors = normal(4, 33, 65)
        whole = equarx.allreduce(tensors, "int8").result
        numpy.testing.assert_array_equal(whole, equarx.allreduce(list(tensors), "int8").result)
        self.assertEqual(whole.shape, (33, 65))

    def test_noncontiguous_arrays_are_copied(self):
        tensors = normal(4, 64, 66)
        for strided in (tensors[:, ::2], tensors.transpose(0, 2, 1), tensors[::-1], numpy.asfortranarray(tensors)):
            numpy.testing.assert_array_equal(equarx.allreduce(strided, "int8").result,
                                             equarx.allreduce(strided.copy(order="C"), "int8").result)

    def test_names_of_other_tools_are_understood(self):
        tensors = normal(4, 5000)
        for theirs, ours in [("float8_e4m3fn", "fp8-e4m3"), ("float8_e5m2fnuz", "fp8-e5m2fnuz"), ("s8", "int8"),
                             ("bfloat16", "bf16")]:
            one, other = equarx.allreduce(tensors, theirs), equarx.allreduce(tensors, ours)
            self.assertEqual(one.config, other.config)
            numpy.testing.assert_array_equal(one.result, other.result)
            self.assertEqual(equarx.quantize(tensors, theirs).mse, equarx.quantize(tensors, ours).mse)
        half = (tensors.view("u4") >> 16).astype("u2")
        self.assertEqual(equarx.allreduce(half, dtype="bfloat16").config["tensor"]["dtype"], "bf16")

    def test_other_byte_orders_are_converted(self):
        tensors = normal(4, 5000)
        swapped = equarx.allreduce(tensors.astype(">f4"), "int8").result
        numpy.testing.assert_array_equal(swapped, equarx.allreduce(tensors, "int8").result)

    def test_each_type_returns_its_own(self):
        half = normal(4, 5000, dtype="float16")
        self.assertEqual(equarx.allreduce(half, "int8").result.dtype, numpy.float16)
        floats = normal(4, 5000)
        cut = (floats.view("u4") >> 16).astype("u2")  # bf16, rounded towards zero
        outcome = equarx.allreduce(cut, "int8", dtype="bf16")
        self.assertEqual(outcome.result.dtype, numpy.uint16)
        decoded = (outcome.result.astype("u4") << 16).view("f4")
        self.assertLess(numpy.abs(decoded - floats.sum(axis=0)).max(), 0.5)

    def test_tensors_of_pytorch_are_accepted_directly(self):
        try:
            import torch
        except ImportError:
            self.skipTest("without PyTorch")
        tensors = normal(4, 5000)
        expected = equarx.allreduce(tensors, "int8").result
        numpy.testing.assert_array_equal(equarx.allreduce(torch.from_numpy(tensors).requires_grad_(), "int8").result,
                                         expected)
        brain = torch.from_numpy(tensors).to(torch.bfloat16)
        raw = brain.view(torch.int16).numpy().view("uint16")
        numpy.testing.assert_array_equal(equarx.allreduce(list(brain), "int8").result,
                                         equarx.allreduce(raw, "int8", dtype="bf16").result)

    def test_a_result_is_written_into_out(self):
        tensors = normal(4, 5000)
        expected = equarx.allreduce(tensors, "int8").result
        out = numpy.empty(5000, "f4")
        self.assertIs(equarx.allreduce(tensors, "int8", out=out).result, out)
        numpy.testing.assert_array_equal(out, expected)
        equarx.allreduce(tensors, "int8", out=tensors)
        for rank in tensors:
            numpy.testing.assert_array_equal(rank, expected)

    def test_inputs_are_not_changed(self):
        tensors = normal(4, 5000)
        before = tensors.copy()
        equarx.allreduce(tensors, "int4")
        numpy.testing.assert_array_equal(tensors, before)

    def test_nan_and_inf_do_not_vanish(self):
        tensors = normal(4, 200000)
        tensors[1, 77] = numpy.nan
        tensors[2, 100000] = numpy.inf
        with self.assertWarnsRegex(UserWarning, "^input of rank 1 has 1 NaN; ") as first:
            outcome = equarx.allreduce(tensors, "int8")
        self.assertEqual(first.filename, __file__)
        self.assertTrue(numpy.isnan(outcome.result[[77, 100000]]).all())
        finite = numpy.isfinite(outcome.result)
        self.assertGreater(finite.mean(), 0.9)
        self.assertEqual(outcome.nonfinite_elements, (~finite).sum())
        exact = tensors.astype("f8").sum(axis=0)[finite]
        self.assertAlmostEqual(outcome.nmse, ((outcome.result[finite] - exact)**2).sum() / (exact**2).sum(), delta=1e-12)
        with self.assertWarnsRegex(UserWarning, "^input of rank 2 has 1 Inf; "):
            equarx.allreduce(tensors, "int8", out=tensors)

    def test_zeros_are_exact(self):
        outcome = equarx.allreduce(numpy.zeros((4, 100), "f4"), "int8")
        self.assertEqual(repr(outcome), "Outcome(all-reduce of 4 ranks, SQNR exact)")

    def test_an_outcome_converts_to_an_array(self):
        outcome = equarx.allreduce(normal(4, 100), "bf16")
        self.assertEqual(numpy.asarray(outcome).shape, (100,))
        self.assertIn("Outcome(all-reduce of 4 ranks, SQNR", repr(outcome))


class Mistakes(unittest.TestCase):
    def refused(self, message, *arguments, function=equarx.allreduce, **options):
        with self.assertRaises(equarx.InputError) as caught:
            function(*arguments, **options)
        self.assertRegex(str(caught.exception), message)
        self.assertNotIn("\n", str(caught.exception))
        return caught.exception

    def test_arrays_that_do_not_fit(self):
        good = normal(8, 100)
        for message, arrays in [
                ("^the array of rank 1 is of float32 \\(50,\\), and that of rank 0 of float32 \\(100,\\)",
                 [good[0], good[1][:50]]),
                ("^the array of rank 1 is of float16", [good[0], good[1].astype("f2")]),
                ("^there are no arrays; give one per rank$", []),
                ("^an array for all ranks has a leading axis", good[0]),
                ("^the array has the shape \\(4, 0\\); it needs at least one", numpy.empty((4, 0), "f4")),
                ("^the array is of object; supported types: float32", numpy.array([[None, 1], [2, 3]])),
                ("^the array is of float64; .*convert it with .astype\\('float32'\\)$", good.astype("f8")),
                ("^the array is of uint16; .*pass dtype='bf16'$", good.astype("u2")),
                ("^the array is of complex64; supported types: float32", good.astype("c8")),
                ("^a int is neither an array nor a list", 7),
                ("^the array of rank 0 is of str", ["a", "b"])]:
            with self.subTest(message):
                self.refused(message, arrays, "int8")
        self.refused("^the array is of float32, but dtype is 'bf16'", good, "int8", dtype="bf16")

    def test_ranks_that_do_not_match_the_topology(self):
        error = self.refused("^/topology: has 8 chips, and there are arrays for 4 ranks", normal(4, 100), "int8",
                             topology={"slice": "4x2"})
        self.assertEqual(error.pointer, "/topology")
        self.refused("^/topology: a collective needs at least two chips", normal(1, 100), "int8", topology={"mesh": "1x1"})

    def test_invalid_configurations(self):
        tensors = normal(4, 100)
        for message, options in [("^/collectives/0/format: 'int9' is not known; did you mean 'int8'", {"format": "int9"}),
                                 ("^/collectives/0/minishard: .*minishards", {"format": "int8", "minishard": 2}),
                                 ("^/collectives/0/algorithm: ", {"format": "int8", "algorithm": "rng"}),
                                 ("^/collectives/0/format: ", {"format": 8}), ("^/hardware: ", {"hardware": "tpu-v99"}), ("^/topology", {"topology": 7})]:
            with self.subTest(message):
                self.refused(message, tensors, **options)
        self.refused("^there is no rank 4; there are 4, from 0$", 4, function=equarx.allreduce(tensors).of_rank)

    def test_out_that_does_not_fit(self):
        tensors = normal(4, 100)
        frozen = numpy.empty(100, "f4")
        frozen.flags.writeable = False
        for message, out in [("^out is of float32 \\(99,\\), and the result of float32 \\(100,\\)$", numpy.empty(99, "f4")),
                             ("^out is of float64", numpy.empty(100)), ("^out is not contiguous", frozen),
                             ("^out is not contiguous", numpy.empty(200, "f4")[::2]),
                             ("^out must be a NumPy array, not a list$", [0.0] * 100)]:
            with self.subTest(message):
                self.refused(message, tensors, "int8", out=out)

    def test_out_that_overlaps_an_array(self):
        memory = normal(8 * 100).reshape(-1)
        ranks = [memory[100 * rank:100 * (rank + 1)] for rank in range(8)]
        self.refused("^out overlaps the array of rank 0 at another offset", ranks, "int8", out=memory[50:150])

    def test_invalid_counts(self):
        for name, value in [("threads", -1), ("threads", "two"), ("seed", 1.5), ("seed", -1)]:
            with self.subTest(name, value=value):
                self.refused(f"^{name} must be a whole number from 0, not ", normal(4, 100), "int8", **{name: value})

    def test_out_of_memory(self):
        """With little memory left for the process, which the message then names."""
        code = ("import numpy, resource, equarx\n"
                "tensors = numpy.lib.stride_tricks.as_strided(numpy.zeros(1, 'f4'), (2, 2**28), (0, 0))\n"
                "used = int(open('/proc/self/statm').read().split()[0]) * 4096\n"
                "resource.setrlimit(resource.RLIMIT_AS, (used + 2**27, used + 2**27))\n"
                "try:\n    equarx.allreduce(tensors, 'int8')\n"
                "except (equarx.InputError, MemoryError) as error:\n    print(type(error).__name__)\n")
        ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        self.assertIn(ran.stdout.strip(), ("InputError", "MemoryError", "_ArrayMemoryError"), ran.stderr)


if __name__ == "__main__":
    unittest.main()
