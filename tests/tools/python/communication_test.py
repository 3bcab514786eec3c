"""Communication times for simulators: equal to runs, cached, and called as published simulators call theirs."""
import math
import threading
import time
import types
import unittest

import equarx
import numpy


def seconds_of_run(topology, collective, bytes, **one):
    config = {"hardware": "h100", "topology": topology, "tensor": {"bytes": bytes, "dtype": "bf16"},
              "collective": collective, "collectives": [{"label": "x", "algorithm": "auto", **one}], "numerics": "off",
              "timed_as": "step", "engine": "direct"}
    return equarx.run(config).runs["x"].time


class Times(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.model = equarx.CommunicationModel("h100", {"switch": 8})

    def test_times_are_those_of_runs(self):
        for collective in ("all-reduce", "reduce-scatter", "all-gather", "all-to-all", "broadcast"):
            named = getattr(self.model, collective.replace("-", "_"))
            self.assertAlmostEqual(named(1 << 20, ranks=4) / seconds_of_run({"switch": 4}, collective, 1 << 20), 1, 9)
            self.assertAlmostEqual(named(1 << 20) / seconds_of_run({"switch": 8}, collective, 1 << 20), 1, 9)

    def test_formats_and_options_are_those_of_the_model(self):
        model = equarx.CommunicationModel("h100", {"switch": 8}, format="fp8-e4m3", algorithm="two-shot")
        run = seconds_of_run({"switch": 8}, "all-reduce", 1 << 24, algorithm="two-shot", format="fp8-e4m3")
        self.assertAlmostEqual(model.all_reduce(1 << 24) / run, 1, 9)
        nccl = equarx.CommunicationModel("h100", {"switch": 8}, options={"protocol": "auto"})
        self.assertEqual(nccl.predict("all-reduce", 4096).protocol, "ll")

    def test_nothing_to_send_takes_no_time(self):
        self.assertEqual(self.model.all_reduce(0, ranks=8), 0)
        self.assertEqual(self.model.all_gather(1 << 20, ranks=1), 0)
        self.assertEqual(self.model.point_to_point(0), 0)

    def test_a_message_is_a_broadcast_to_two_ranks(self):
        self.assertEqual(self.model.point_to_point(1 << 20), self.model.broadcast(1 << 20, ranks=2))
        tpu = equarx.CommunicationModel("tpu-v5e", {"slice": "4x4"})
        self.assertLess(tpu.point_to_point(1 << 20), tpu.broadcast(1 << 20))
        self.assertGreater(tpu.point_to_point(1 << 20), (1 << 20) / 45e9)

    def test_sizes_are_whole_elements(self):
        self.assertEqual(self.model.all_reduce(4097), self.model.all_reduce(4098))
        self.assertEqual(self.model.all_reduce(numpy.int64(4098)), self.model.all_reduce(4098))

    def test_predictions_have_intervals_and_errors(self):
        model = equarx.CommunicationModel("tpu-v5e", {"slice": "4x2"}, format="int8")
        prediction = model.predict("all-reduce", 1 << 20)
        self.assertEqual(prediction.time, model.all_reduce(1 << 20))
        self.assertLess(prediction.low, prediction.high)
        self.assertAlmostEqual(prediction.sqnr_db, -10 * math.log10(prediction.nmse))
        self.assertGreater(prediction.encodings, 0)
        self.assertTrue(prediction.ranks_identical)
        self.assertEqual(model.predict("all-gather", 1 << 20)._replace(time=0).ranks, 8)

    def test_equal_calls_are_cached(self):
        self.model.all_reduce(123456, ranks=4)
        began = time.perf_counter()
        for _ in range(10_000):
            self.model.all_reduce(123456, ranks=4)
        self.assertLess(time.perf_counter() - began, 1)  # 0.1 ms each; simulated ones take ten times as long

    def test_threads_share_a_model(self):
        found = []

        def call():
            found.append([self.model.all_to_all(1 << power, ranks=4) for power in range(10, 20)])
        threads = [threading.Thread(target=call) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(found), 4)
        self.assertTrue(all(one == found[0] for one in found))

    def test_wrong_use_names_the_argument(self):
        for call, message in (
                (lambda: equarx.CommunicationModel("h1000", {"switch": 8}), "/hardware"),
                (lambda: equarx.CommunicationModel("h100", {"switch": 8}, dtype="int8"), "dtype: 'int8'"),
                (lambda: equarx.CommunicationModel("h100", {"switch": 8}, cache=0), "cache: 0"),
                (lambda: equarx.CommunicationModel("h100", {"switch": 8}, machine={"collective": "broadcast"}), "/collective"),
                (lambda: self.model.all_reduce(1.5), "bytes is a whole number"),
                (lambda: self.model.all_reduce(-2), "bytes: -2"),
                (lambda: self.model.all_reduce(1 << 70), "bytes: "),
                (lambda: self.model.all_reduce(4096, ranks=9), "ranks: 9"),
                (lambda: self.model.predict("all-sum", 4096), "/collective")):
            with self.subTest(message), self.assertRaisesRegex(equarx.InputError, message):
                call()


class Callers(unittest.TestCase):
    """Stand-ins with the interfaces as published; docs/predictor.md has the same lines."""

    def test_a_predictor_of_vidur(self):
        # microsoft/vidur 16525b68, vidur/execution_time_predictor/base_execution_time_predictor.py: times in ms
        class BaseExecutionTimePredictor:
            def __init__(self, tensor_parallel, pipeline_stages):
                self._num_tensor_parallel_workers = tensor_parallel
                self._num_pipeline_stages = pipeline_stages

            def communication(self, batch, stage):
                pipeline = 0 if stage == self._num_pipeline_stages - 1 else \
                    self._get_pipeline_parallel_communication_time(batch)
                tensor = 0 if self._num_tensor_parallel_workers == 1 else \
                    self._get_tensor_parallel_communication_time(batch)
                return tensor, pipeline

        class Predicted(BaseExecutionTimePredictor):
            model = equarx.CommunicationModel("h100", {"switch": 8})
            bytes_of_token = 2 * 8192

            def _get_tensor_parallel_communication_time(self, batch):
                size = batch._total_num_tokens_rounded * self.bytes_of_token
                return 1e3 * self.model.all_reduce(size, self._num_tensor_parallel_workers)

            def _get_pipeline_parallel_communication_time(self, batch):
                return 1e3 * self.model.point_to_point(batch._total_num_tokens_rounded * self.bytes_of_token)

        batch = types.SimpleNamespace(_total_num_tokens_rounded=512)
        tensor, pipeline = Predicted(4, 2).communication(batch, 0)
        self.assertAlmostEqual(tensor / (1e3 * seconds_of_run({"switch": 4}, "all-reduce", 512 * 16384)), 1, 9)
        self.assertAlmostEqual(pipeline / (1e3 * seconds_of_run({"switch": 2}, "broadcast", 512 * 16384)), 1, 9)
        self.assertEqual(Predicted(1, 2).communication(batch, 1), (0, 0))

    def test_a_database_of_aiconfigurator(self):
        # ai-dynamo/aiconfigurator, sdk/perf_database.py, which SGLang's simulator calls (sgl-project/sglang 2f070b1b,
        # tools/sglang-simulator/.../aiconfigurator.py): sizes in elements, messages in bytes, times in ms
        class Database:
            def query_custom_allreduce(self, quant_mode, tp_size, size, database_mode=None):
                raise NotImplementedError

            def query_nccl(self, dtype, num_gpus, operation, message_size, database_mode=None):
                raise NotImplementedError

            def query_p2p(self, message_bytes, database_mode=None, num_gpus=None):
                raise NotImplementedError

        model = equarx.CommunicationModel("h100", {"switch": 8})
        half = types.SimpleNamespace(value=types.SimpleNamespace(memory=2))  # CommQuantMode.half

        class Predicted(Database):
            def query_custom_allreduce(self, quant_mode, tp_size, size, database_mode=None):
                return 1e3 * model.all_reduce(int(quant_mode.value.memory * size), tp_size)

            def query_nccl(self, dtype, num_gpus, operation, message_size, database_mode=None):
                named = {"alltoall": model.all_to_all, "all_reduce": model.all_reduce, "all_gather": model.all_gather,
                         "reduce_scatter": model.reduce_scatter}
                return 1e3 * named[operation](int(dtype.value.memory * message_size), num_gpus)

            def query_p2p(self, message_bytes, database_mode=None, num_gpus=None):
                return 1e3 * model.point_to_point(int(message_bytes))

        database = Predicted()
        for operation in ("all_gather", "alltoall", "reduce_scatter", "all_reduce"):
            kind = {"alltoall": "all-to-all"}.get(operation, operation.replace("_", "-"))
            self.assertAlmostEqual(database.query_nccl(half, 4, operation, 1 << 19)
                                   / (1e3 * seconds_of_run({"switch": 4}, kind, 1 << 20)), 1, 9)
        self.assertEqual(database.query_custom_allreduce(half, 4, 1 << 19),
                         database.query_nccl(half, 4, "all_reduce", 1 << 19))
        self.assertEqual(database.query_p2p(1 << 20), 1e3 * model.point_to_point(1 << 20))


class Tables(unittest.TestCase):
    CONFIG = {"hardware": "h100", "topology": {"switch": 8}, "tensor": {"bytes": 4096, "dtype": "fp16"},
              "collectives": [{"label": "a", "algorithm": "auto"}]}

    def test_a_table_has_the_times_of_the_model(self):
        text = equarx.export_table(self.CONFIG, collectives=["all-reduce", "all-gather"], bytes="4 KiB..16 KiB", ranks=[2, 8])
        head, *rows = [line.split(",") for line in text.splitlines()]
        self.assertEqual(len(rows), 12)
        model = equarx.CommunicationModel("h100", {"switch": 8}, dtype="fp16")
        for row in (dict(zip(head, cells)) for cells in rows):
            named = getattr(model, row["collective"].replace("-", "_"))
            self.assertAlmostEqual(float(row["time_us"]) / (1e6 * named(int(row["bytes"]), int(row["ranks"]))), 1, 4)

    def test_other_kinds_and_wrong_ones(self):
        self.assertIn('key: "sm_90"', equarx.export_table(self.CONFIG, kind="xla", bytes="4 KiB"))
        self.assertIn(",all_reduce,", equarx.export_table(self.CONFIG, kind="nccl-perf", bytes="4 KiB"))
        with self.assertRaisesRegex(equarx.InputError, "unknown export format 'xml'"):
            equarx.export_table(self.CONFIG, kind="xml")
        with self.assertRaisesRegex(equarx.InputError, "--ranks"):
            equarx.export_table(self.CONFIG, ranks=[1])


if __name__ == "__main__":
    unittest.main()
