"""Schedules: the examples equal the built-in algorithms, and mistakes are named with their lines."""
import copy
import multiprocessing
import os
import pathlib
import pickle
import signal
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor
from random import Random

import equarx
import numpy

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools" / "python" / "examples"))

import schedules

RING = {"ring": 8}
SWITCH = {"switch": 8}
NODES = {"switch": 4, "network": {"slices": 2, "bandwidth": "50 GB/s", "latency": "5 us"}}
# Example, built-in algorithm with its options, collectives, topology, hardware, formats.
EQUALS = (
    (schedules.one_shot, {"algorithm": "one-shot"}, ("allreduce",), SWITCH, "h100", ("bf16", "fp32", "int8", "mxfp4")),
    (schedules.one_shot, {"algorithm": "one-shot"}, ("allreduce",), {"slice": "4x2"}, "tpu-v5e", ("bf16", "int8")),
    (schedules.two_shot, {"algorithm": "two-shot"}, ("allreduce",), SWITCH, "h100", ("bf16", "fp32", "int8", "mxfp4")),
    (schedules.two_shot, {"algorithm": "direct"}, ("reduce_scatter", "all_gather"), SWITCH, "h100", ("bf16", "int8")),
    (schedules.two_shot, {"algorithm": "two-shot", "quantize": "all-gather"}, ("allreduce",), {"torus": "4x2"}, "tpu-v5e",
     ("int8",)),
    (schedules.hierarchical, {"algorithm": "hierarchical-two-shot"}, ("allreduce",), NODES, "h100",
     ("bf16", "fp32", "int8")),
    (schedules.exchange, {"algorithm": "direct"}, ("all_to_all",), SWITCH, "h100", ("bf16", "int8")),
    (schedules.exchange, {"algorithm": "direct"}, ("all_to_all",), {"torus": "4x2"}, "tpu-v5e", ("bf16", "int8")),
    (schedules.quickreduce, {"algorithm": "quickreduce"}, ("allreduce",), SWITCH, "h100", ("int8", "mxfp4")),
    (schedules.qgz, {"algorithm": "qgz"}, ("allreduce",), NODES, "h100", ("bf16", "fp32", "int8")),
    (schedules.recursive_doubling, {"algorithm": "recursive-doubling"}, ("allreduce",), SWITCH, "h100",
     ("bf16", "fp32", "int8")),
    (schedules.halving_doubling, {"algorithm": "halving-doubling"}, ("allreduce",), SWITCH, "h100",
     ("bf16", "fp32", "int8")),
    (schedules.halving_doubling, {"algorithm": "halving-doubling"}, ("allreduce",), {"torus": "4x2"}, "tpu-v5e",
     ("bf16", "int8")),
    (schedules.binomial_tree, {"algorithm": "binomial-tree"}, ("allreduce",), SWITCH, "h100", ("bf16", "fp32")),
    (schedules.ring, {"algorithm": "ring"}, ("allreduce", "reduce_scatter"), RING, "tpu-v5e", ("bf16", "fp32")),
    (schedules.ring, {"algorithm": "equarx"}, ("allreduce", "reduce_scatter"), RING, "tpu-v5e", ("int8", "mxfp4")),
    (schedules.ring, {"algorithm": "equarx", "minishards": 2, "microshards": 3}, ("allreduce",), {"ring": 5}, "tpu-v5e",
     ("int8",)),
)


def tensors(ranks, elements=40_000):
    return numpy.random.default_rng(3).standard_normal((ranks, elements)).astype("f4")


def ring_time(schedule):
    return equarx.allreduce(tensors(8), "int8", algorithm=schedule, time=True).time


def write(function, **options):
    """A schedule under the name "own"."""
    return equarx.schedule("own", **options)(function)


class Examples(unittest.TestCase):
    def test_examples_equal_the_built_in_algorithms_in_bits_and_in_time(self):
        for own, options, collectives, topology, hardware, formats in EQUALS:
            for collective in collectives:
                for format in formats:
                    with self.subTest(own=own.name, collective=collective, format=format, topology=topology):
                        given = {"format": format, "topology": topology, "hardware": hardware, "time": True}
                        compute = getattr(equarx, collective)
                        arrays = tensors(5 if topology == {"ring": 5} else 8)
                        built_in = compute(arrays, **given, **options)
                        written = compute(arrays, **given, **{**options, "algorithm": own})
                        self.assertTrue(numpy.array_equal(written.result, built_in.result))
                        self.assertLess(abs(written.time / built_in.time - 1), 1e-12)
                        self.assertEqual(written.timing.algorithm, own.name)

    def test_they_do_with_any_number_of_parts(self):
        for own, options, collectives, topology, hardware, formats in EQUALS:
            for format in ("int8",) if "int8" in formats else formats:
                parts = {"microshards": 3} if format != "int8" else {"minishards": 3, "microshards": 2}
                with self.subTest(own=own.name, format=format, topology=topology):
                    given = {"format": format, "topology": topology, "hardware": hardware, "time": True, **parts}
                    compute = getattr(equarx, collectives[0])
                    arrays = tensors(5 if topology == {"ring": 5} else 8)
                    built_in = compute(arrays, **{**options, **given})
                    written = compute(arrays, **{**options, **given, "algorithm": own})
                    self.assertEqual(written.timing.microshards, parts["microshards"])
                    self.assertTrue(numpy.array_equal(written.result, built_in.result))
                    self.assertLess(abs(written.time / built_in.time - 1), 1e-12)

    def test_a_tiled_schedule_is_tuned_like_a_built_in_one(self):
        config = {"hardware": "tpu-v5e", "topology": {"ring": 32}, "tensor": {"bytes": "4 MiB"}, "numerics": "off",
                  "collectives": [{"label": "own", "algorithm": schedules.ring, "format": "int8"},
                                  {"label": "built-in", "algorithm": "equarx", "format": "int8"}]}
        runs = equarx.run(config).runs
        self.assertLess(abs(runs["own"].time / runs["built-in"].time - 1), 1e-12)
        self.assertEqual(runs["own"].minishards, runs["built-in"].minishards)
        self.assertEqual(runs["own"].microshards, runs["built-in"].microshards)

    def test_pass_around_sums_like_one_shot(self):
        arrays = tensors(8)
        for format in ("fp32", "int8", "mxfp4"):
            passed = equarx.allreduce(arrays, format, algorithm=schedules.pass_around, time=True)
            at_once = equarx.allreduce(arrays, format, algorithm="one-shot")
            self.assertTrue(numpy.array_equal(passed.result, at_once.result))
            self.assertGreater(passed.time, passed.timing.lower_bound_s)


def to_all(w):
    """Every rank's tensor, and its messages to all others, by channel."""
    own = [w.encode(part) for part in w.parts()]
    return own, [[w.send(one, channel) for one in own] for channel in [w.channel(k) for k in range(1, w.ranks)]]


def wait_for(w, sent):
    for messages in sent:
        for message in messages:
            w.wait(message)


def store(w):
    for part in w.parts():
        w.store(part)


class OtherCollectives(unittest.TestCase):
    def test_an_all_to_all(self):
        def exchange(w):
            for part in w.parts():
                sent = [w.send(w.encode(part.of(k)), w.channel(k)) for k in range(1, w.ranks)]
                for message in sent:
                    w.wait(message)
                    w.deliver(message)
                w.deliver(w.encode(part))
        own = write(exchange, collectives="all-to-all", shards=True)
        arrays = tensors(4)
        self.assertTrue(numpy.array_equal(equarx.all_to_all(arrays, algorithm=own).result,
                                          equarx.all_to_all(arrays).result))

    def test_terms_of_shards_are_reduced_in_the_order_of_ranks(self):
        def reduce_scatter(w):
            channels = [w.channel(k) for k in range(1, w.ranks)]
            own, sent = [], []
            for part in w.parts():
                own.append(w.encode(part))
                sent.append([w.send(w.encode(part.of(channel.offset)), channel) for channel in channels])
            wait_for(w, sent)
            for one in own:
                w.reduce(one)
            store(w)
        arrays = tensors(4)
        for options in ({"collectives": "reduce-scatter", "shards": True, "microshards": 1},):
            own = equarx.reduce_scatter(arrays, "int8", algorithm=write(reduce_scatter, **options))
            known = equarx.reduce_scatter(arrays, "int8", algorithm="direct", arithmetic={"order": "ranks"})
            self.assertTrue(numpy.array_equal(own.result, known.result))

    def test_neighbours_on_the_axes_of_a_grid(self):
        def row_then_column(w):
            for axis in (0, 1):
                channel = w.channel(w.offset(axis, 1))
                own = passed = [w.encode(part) for part in w.parts()]
                for _ in range(w.lengths[axis] - 1):
                    passed = [w.send(one, channel) for one in passed]
                    wait_for(w, [passed])
                for one in own:
                    w.reduce(one, axes=[axis])
            store(w)
        arrays = tensors(8)
        for topology in ({"torus": "4x2"}, {"slice": "4x2"}):
            outcome = equarx.allreduce(arrays, "bf16", algorithm=write(row_then_column, layout="grid"), topology=topology,
                                       time=True)
            self.assertGreater(outcome.sqnr_db, 45)


def disturbed(random, example):
    """The example, after random instructions that do not change its result."""
    def write_disturbed(w):
        channels, encoded, arrived = [w.channel(1)], [], []

        def step():
            parts = [part.of(random.randrange(w.ranks)) for part in w.parts(uncut=random.randrange(len(w.lengths)))]
            kind = random.randrange(9)
            if kind == 0:
                channels.append(w.channel(random.randrange(1, w.ranks)))
            elif kind <= 2:
                encoded.extend(w.encode(part) for part in parts)
            elif kind <= 4 and encoded:
                sent = w.send(random.choice(encoded + arrived), random.choice(channels), begins=random.random() < 0.3)
                w.wait(sent)
                arrived.append(sent)
            elif kind == 5:
                w.barrier(random.choice(parts))
            elif kind == 6:
                w.find_scales(random.choice(parts))
            elif kind == 7:
                w.phase = random.choice(["reduce-scatter", "all-gather"])
            else:
                random.choice([w.strand, w.turn])()

        for _ in range(random.randrange(25)):
            try:
                step()
            except equarx.InputError:  # as values of other ranks in an AllGather
                pass
        w.phase = "all-gather" if w.collective == "all-gather" else "reduce-scatter"
        example(w)
    return write_disturbed


class Disturbed(unittest.TestCase):
    CASES = (
        (schedules.one_shot, "allreduce", {"microshards": 1}),
        (schedules.two_shot, "allreduce", {"shards": True, "microshards": 1}),
        (schedules.two_shot, "reduce_scatter", {"shards": True, "microshards": 1}),
        (schedules.two_shot, "all_gather", {"shards": True, "microshards": 1}),
        (schedules.halving_doubling, "allreduce", {"shards": True, "layout": "hypercube"}),
    )

    def test_scales_are_found_again_after_a_sum(self):
        def early(w):
            w.phase = "all-gather"
            for part in w.parts():
                w.find_scales(part)  # of the input, of which the larger chunks are summed
            w.phase = "reduce-scatter"
            schedules.halving_doubling(w)
        arrays, given = tensors(4), {"format": "int8", "topology": {"switch": 4}}
        own = equarx.allreduce(arrays, algorithm=write(early, shards=True, layout="hypercube"), **given)
        self.assertTrue(numpy.array_equal(own.result,
                                          equarx.allreduce(arrays, algorithm=schedules.halving_doubling, **given).result))

    def test_strands_with_the_same_scales_at_once_are_refused(self):
        def twice(w):
            part = w.parts()[0]
            for _ in range(2):
                w.strand()
                w.find_scales(part)
                w.turn()
                w.encode(part)
        with self.assertRaisesRegex(equarx.InputError, "encode: scales of the part are found twice at once"):
            equarx.allreduce(tensors(4), "int8", algorithm=write(twice))

    def test_programs_are_refused_or_computed_as_without_the_rest(self):
        arrays, computed, refused = tensors(4, 2000), 0, 0
        known = {}
        for seed in range(300):
            random = Random(seed)
            example, collective, options = random.choice(self.CASES)
            format = random.choice(["bf16", "int8", "mxfp4"])
            own = write(disturbed(random, example), collectives=["all-reduce", "reduce-scatter", "all-gather"][
                :3 if options.get("shards") else 1], **options)
            given = {"format": format, "topology": {"switch": 4}, "time": True}
            compute = getattr(equarx, collective)
            if (example.name, collective, format) not in known:
                known[example.name, collective, format] = compute(arrays, algorithm=example, **given).result
            try:
                outcome = compute(arrays, algorithm=own, **given)
            except equarx.InputError:
                refused += 1
                continue
            computed += 1
            self.assertTrue(numpy.array_equal(outcome.result, known[example.name, collective, format]), seed)
        self.assertGreater(computed, 100)
        self.assertGreater(refused, 20)


class Use(unittest.TestCase):
    CONFIG = {"hardware": "tpu-v5e", "topology": {"ring": 8}, "tensor": {"bytes": "1 MiB"}}

    def test_schedules_run_in_configurations_among_others(self):
        result = equarx.run({**self.CONFIG, "collectives": [
            {"label": "known", "algorithm": "ring"}, {"label": "own", "algorithm": schedules.ring},
            {"algorithm": schedules.pass_around, "format": "int8"}]}, uncertainty=True, sensitivity=True)
        self.assertEqual(list(result.runs), ["known", "own", "pass-around"])
        self.assertLess(abs(result.runs["own"].time / result.runs["known"].time - 1), 1e-12)
        self.assertEqual(result.runs["own"].numerics.mse, result.runs["known"].numerics.mse)
        self.assertEqual(result.runs["own"].engine, "direct")

    def test_programs_have_their_instructions(self):
        config = {**self.CONFIG, "collectives": [{"algorithm": schedules.ring, "format": "bf16"}]}
        known = {**self.CONFIG, "collectives": [{"algorithm": "ring", "format": "bf16"}]}
        own, built_in = equarx.Program(config), equarx.Program(known)
        self.assertEqual([(row["op"], row.get("bytes")) for row in own], [(row["op"], row.get("bytes")) for row in built_in])
        self.assertEqual(own.timeline()[-1]["end_s"], built_in.timeline()[-1]["end_s"])

    def test_the_configuration_of_an_outcome_runs(self):
        outcome = equarx.allreduce(tensors(8), "int8", algorithm=schedules.one_shot, time=True)
        self.assertIs(outcome.config["collectives"][0]["algorithm"], schedules.one_shot)
        self.assertEqual(equarx.run({**outcome.config, "numerics": "off"}).runs["collective"].time, outcome.time)

    def test_export_to_msccl(self):
        xml = schedules.two_shot.export_msccl(4)
        self.assertEqual(xml.count("<gpu "), 4)
        self.assertIn('name="my-two-shot"', xml)
        config = {**self.CONFIG, "topology": {"ring": 4}, "tensor": {"bytes": "1 MiB", "dtype": "fp32"},
                  "collectives": [{"label": "my-two-shot", "algorithm": schedules.two_shot, "format": "fp32"}]}
        self.assertEqual(equarx.export_msccl(config), xml)
        path = pathlib.Path(os.environ.get("TMPDIR", "/tmp")) / f"schedules_test_{os.getpid()}.xml"
        try:
            path.write_text(xml)
            checked = equarx.import_msccl(path, topology="fully-connected:4")
        finally:
            path.unlink()
        self.assertGreater(checked.time_s, 0)
        with self.assertRaisesRegex(equarx.InputError, "cannot be exported to MSCCL"):
            schedules.two_shot.export_msccl(4, dtype="bf16", format="int8")

    def test_schedules_are_pickled_by_name(self):
        self.assertIs(pickle.loads(pickle.dumps(schedules.ring)), schedules.ring)
        self.assertIs(copy.deepcopy(schedules.ring), schedules.ring)
        with self.assertRaisesRegex(equarx.InputError, "cannot be pickled.*top level of a module"):
            pickle.dumps(write(store))

    def test_threads_and_processes(self):
        arrays = tensors(8)

        def time_of(_):
            return equarx.allreduce(arrays, "int8", algorithm=schedules.ring, time=True).time
        expected = time_of(None)
        with ThreadPoolExecutor(4) as threads:
            self.assertEqual(set(threads.map(time_of, range(8))), {expected})
        for method in ("fork", "spawn"):
            with multiprocessing.get_context(method).Pool(1) as processes:
                self.assertEqual(processes.apply(ring_time, (schedules.ring,)), expected)

    def test_a_schedule_may_call_another(self):
        arrays = tensors(8)
        own = write(lambda w: schedules.one_shot(w), microshards=1)
        self.assertTrue(numpy.array_equal(equarx.allreduce(arrays, "int8", algorithm=own).result,
                                          equarx.allreduce(arrays, "int8", algorithm="one-shot").result))


class Mistakes(unittest.TestCase):
    def refused(self, function, pattern, format="bf16", topology=None, collective="allreduce", **options):
        """Planning or computing is refused with a text; returns it."""
        with self.assertRaisesRegex(equarx.InputError, pattern) as caught:
            getattr(equarx, collective)(tensors(4, 4000), format, algorithm=write(function, **options), topology=topology)
        self.assertNotIn("\n", str(caught.exception))
        return str(caught.exception)

    def test_a_violation_names_the_line_of_its_instruction(self):
        def early(w):
            own, sent = to_all(w)
            for one in own:
                w.reduce(one)
            wait_for(w, sent)
            store(w)
        line = early.__code__.co_firstlineno + 3
        self.refused(early, f"^schedule 'own', line {line} of schedules_test.py, reduce: a buffer is read before it is "
                            f"available")

    def test_sums_without_a_term_or_with_one_twice(self):
        def sums(chosen):
            def write_sums(w):
                _, sent = to_all(w)
                wait_for(w, sent)
                for message in chosen(sent):
                    w.accumulate(message[0])
                store(w)
            return write_sums
        self.refused(sums(lambda sent: sent[1:]), "store: the result of rank 0 contains the input of rank 3 not at all")
        self.refused(sums(lambda sent: [*sent, sent[0]]), "the result of rank 0 contains the input of rank 3 2 times")
        self.refused(sums(lambda sent: sent), "the ranks end with different results", format="int8")

    def test_messages_without_waits_and_waits_without_messages(self):
        def unawaited(w):
            own, _ = to_all(w)
            store(w)
        self.refused(unawaited, "send: no rank waits for this message")
        self.refused(lambda w: w.send_scales(w.encode(w.parts()[0]), w.channel(1)) and None,
                     "send_scales: no rank waits for this message .the scales of segment 0", format="int8")

        def wrong_order(w):
            channel, own = w.channel(1), w.encode(w.parts()[0])
            first, second = w.send(own, channel), w.send(own, channel)
            w.wait(second)
            w.wait(first)
        self.refused(wrong_order, "wait: waits are not in the order of sends")

        def unsent(w):
            w.wait(w.send_scales(w.encode(w.parts()[0]), w.channel(1)))
        self.refused(unsent, "wait: microshard 0 has not been sent, so that a wait for it would never end")

        def deadlock(w):
            channel = w.channel(1)
            with w.only(0):
                sent = [w.send(w.encode(part), channel) for part in w.parts()]
            with w.only(2):
                wait_for(w, [sent])
        self.refused(deadlock, "wait: a wait never completes", uniform=False)

        def unawaited_reduce(w):
            own, sent = to_all(w)
            with w.only(0, 2):
                wait_for(w, sent)
            for one in own:
                w.reduce(one)
            with w.only(3):
                wait_for(w, sent)
            store(w)
        self.refused(unawaited_reduce, "reduce: a buffer is read before it is available", uniform=False)

    def test_results_that_are_incomplete_or_written_twice(self):
        self.refused(lambda w: None, "0 of 4000 elements of segment 0 reach the result")
        self.refused(lambda w: (store(w), store(w)) and None, "store: microshard 0 is in the result already")

        def others_shard(w):
            for part in w.parts():
                w.store(part.of(1))
        self.refused(others_shard, "receives the shard of rank|elements of segment", collectives="all-to-all", shards=True,
                     collective="all_to_all")

    def test_arguments(self):
        for function, pattern, options in (
                (lambda w: w.channel(0), "channel: a channel to the rank at offset 0 connects no two of 4 ranks", {}),
                (lambda w: w.channel(4), "offset 4 is beyond the 4 ranks", {}),
                (lambda w: w.channel("next"), "an offset is a whole number", {}),
                (lambda w: w.channel(2), "no neighbour.*layout=\"any\"", {"layout": "ring"}),
                (lambda w: w.parts(1), "no segment 1.*segments=2", {}),
                (lambda w: w.parts(uncut=1), "uncut is at most 0", {"shards": True}),
                (lambda w: w.offset(1, 1), "no axis 1", {}),
                (lambda w: setattr(w, "phase", "gather"), "phase 'gather' is unknown", {}),
                (lambda w: setattr(w, "phase", "all-gather-between"), "between slices", {}),
                (lambda w: w.encode(w.parts()[0].of(4)), "no rank at offset 4", {"shards": True}),
                (lambda w: w.encode(w.parts()[0].of(-1)), "whole numbers from 0", {"shards": True}),
                (lambda w: w.send(w.parts()[0], w.channel(1)), "needs Encoded or Sent, not Part", {}),
                (lambda w: w.encode_micro(w.encode_scales(w.parts()[0]), 99), "no microshard 99", {}),
                (lambda w: w.send(w.encode_scales(w.parts()[0]), w.channel(1)), "microshard 0 is not encoded yet", {}),
                (lambda w: w.reduce(w.encode(w.parts()[0]), axes=[1]), "no axis 1", {}),
                (lambda w: w.reduce(w.encode(w.parts()[0])), "needs parts for all ranks along the axes", {"shards": True}),
                (lambda w: w.only(0).__enter__(), "uniform=False", {}),
                (lambda w: w.only(0, 4).__enter__(), "no ranks 0 to 4", {"uniform": False})):
            with self.subTest(pattern=pattern):
                self.refused(function, pattern, **options)

    def test_values_of_others_in_an_all_gather(self):
        def again(w):
            sent = [w.send(w.encode(part), w.channel(1)) for part in w.parts()]
            for message in sent:
                w.wait(message)
                w.decode(message)
        options = {"collectives": "all-gather", "shards": True, "collective": "all_gather"}
        self.refused(again, "decode: a rank of an all-gather has values of its own chunk only", **options)
        self.refused(lambda w: w.encode(w.parts()[0].of(1)), "forward and deliver parts of others", **options)

    def test_a_writer_ends_with_its_schedule(self):
        kept = []

        def keep(w):
            kept.extend((w, w.encode(w.parts()[0])))
            store(w)
        self.refused(keep, "contains the input of rank 1 not at all")
        with self.assertRaisesRegex(equarx.InputError, "the program is complete"):
            kept[0].channel(1)
        self.refused(lambda w: w.send(kept[1], w.channel(1)), "of another writer")

    def test_exceptions_of_the_schedule_reach_the_caller(self):
        class Mine(Exception):
            pass

        def fails(w):
            raise Mine("as raised")
        for layout in ("ring", "any"):
            with self.assertRaisesRegex(Mine, "as raised"):
                equarx.allreduce(tensors(4), algorithm=write(fails, layout=layout), time=True)
        with self.assertRaises(KeyboardInterrupt):
            equarx.allreduce(tensors(4), algorithm=write(lambda w: signal.raise_signal(signal.SIGINT)))
        self.refused(lambda w: 5, "schedule 'own' returns 5")
        with self.assertRaises(TypeError):
            equarx.allreduce(tensors(4), algorithm=write(lambda: None))

    def test_definitions(self):
        for options, pattern in (({"name": "ring"}, "name of a built-in algorithm"), ({"name": "auto"}, "built-in"),
                                 ({"name": ""}, "needs a name"), ({"layout": "circle"}, "layout 'circle' is unknown"),
                                 ({"collectives": "reduce"}, "collective 'reduce' is unknown"), ({"segments": 9}, "1 to 8"),
                                 ({"phases": 3}, "1 to 2"), ({"microshards": 0}, "whole number from 1"),
                                 ({"collectives": "all-gather"}, "add shards=True"),
                                 ({"uniform": False, "layout": "ring"}, "use layout=\"any\""),
                                 ({"uniform": False, "shards": True}, "whole tensor")):
            with self.subTest(**options):
                with self.assertRaisesRegex(equarx.InputError, pattern):
                    equarx.schedule(**{"name": "own", **options})(store)

    def test_where_schedules_do_not_fit(self):
        arrays = tensors(4)
        for algorithm, pattern in ((store, "decorate the function"), (schedules.hierarchical, "for slices"),
                                   (schedules.one_shot, "not written for AllGather")):
            with self.assertRaisesRegex(equarx.InputError, pattern):
                (equarx.all_gather if algorithm is schedules.one_shot else equarx.allreduce)(arrays, algorithm=algorithm)
        with self.assertRaisesRegex(equarx.InputError, "'my-one-shot'"):
            equarx.allreduce(arrays, "global-qsgd-exp8", algorithm=schedules.one_shot)
        with self.assertRaisesRegex(equarx.InputError, "feedback: needs a built-in algorithm"):
            equarx.allreduce(arrays, "int8", algorithm=schedules.two_shot, feedback=numpy.zeros(arrays.shape, "f4"))
        config = {**Use.CONFIG, "engine": "simgrid", "collectives": [{"algorithm": schedules.one_shot}]}
        with self.assertRaisesRegex(equarx.InputError, "direct engine only"):
            equarx.run(config)
        twins = [{"label": str(i), "algorithm": write(store)} for i in range(2)]
        with self.assertRaisesRegex(equarx.InputError, "two schedules have the name 'own'"):
            equarx.run({**Use.CONFIG, "collectives": twins})
        with self.assertRaisesRegex(equarx.InputError, "Schedule is no value"):
            equarx.tune({**Use.CONFIG, "collectives": [{"algorithm": schedules.one_shot}]})
        with self.assertRaisesRegex(equarx.InputError, "/collectives/0: .*elements"):
            equarx.allreduce(tensors(8, 64), algorithm=schedules.ring, microshards=4096)


if __name__ == "__main__":
    unittest.main()
