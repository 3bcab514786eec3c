"""A process with busy threads, many calls, and failing helpers."""
import concurrent.futures
import contextlib
import gc
import json
import multiprocessing
import os
import pathlib
import signal
import subprocess
import tempfile
import threading
import time
import unittest

import equarx
import numpy
from processes import ran

CONFIG = "configs/experiments/allreduce_v5e_4x2.json"
SMALL = {"/tensor/bytes": "64 KiB", "/collectives/1/minishards": 1, "/numerics": "off"}
BY = {engine: {**SMALL, "/engine": engine} for engine in ("simgrid", "direct")}


def children() -> set[int]:
    """Child processes of this process that have not been waited for."""
    found = set()
    for task in pathlib.Path("/proc/self/task").iterdir():
        with contextlib.suppress(FileNotFoundError):  # of a thread that has just ended
            found.update(int(child) for child in (task / "children").read_text().split())
    return found


def holdings() -> dict[str, int]:
    """System resources of this process."""
    time.sleep(0.1)  # joined threads leave its list a little later
    return {"processes": len(children()), "descriptors": len(os.listdir("/proc/self/fd")),
            "threads": len(os.listdir("/proc/self/task"))}


def memory() -> int:
    """Resident, in bytes."""
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class BusyThreads:
    """Threads that multiply matrices, in NumPy and in PyTorch, for the duration of the block."""

    def __enter__(self):
        self._stop = threading.Event()
        kinds = [numpy.ones((200, 200), "f4")]
        try:
            import torch
            kinds.append(torch.ones(200, 200))
        except ImportError:
            pass
        self._threads = [threading.Thread(target=self._multiply, args=(one,)) for one in kinds]
        for thread in self._threads:
            thread.start()

    def _multiply(self, matrix):
        while not self._stop.is_set():
            matrix @ matrix

    def __exit__(self, *_):
        self._stop.set()
        for thread in self._threads:
            thread.join()


class Threads(unittest.TestCase):
    def test_both_engines_run_alongside_busy_threads(self):
        expected = {engine: equarx.run(CONFIG, overrides).to_dict() for engine, overrides in BY.items()}
        with BusyThreads():
            for call in range(200):
                engine = ("simgrid", "direct")[call % 2]
                self.assertEqual(equarx.run(CONFIG, BY[engine]).to_dict(), expected[engine])

    def test_many_threads_may_run_at_once(self):
        gradients = numpy.random.default_rng(1).standard_normal((4, 20000)).astype("f4")
        expected = {engine: equarx.run(CONFIG, overrides).to_dict() for engine, overrides in BY.items()}
        summed = equarx.allreduce(gradients, "int8").result

        def work(call):
            engine = ("simgrid", "direct")[call % 2]
            same = equarx.run(CONFIG, BY[engine]).to_dict() == expected[engine]
            return same and (equarx.allreduce(gradients, "int8").result == summed).all()

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            self.assertTrue(all(pool.map(work, range(64))))
        self.assertLessEqual(len(children()), os.cpu_count())

    def test_the_interpreter_is_not_blocked_meanwhile(self):
        gradients = numpy.ones((8, 4 << 20), "f4")
        counted, done = 0, threading.Event()

        def call():
            equarx.allreduce(gradients, "int8", threads=1)
            done.set()

        thread = threading.Thread(target=call)
        thread.start()
        while not done.wait(0.001):
            counted += 1
        thread.join()
        self.assertGreater(counted, 5)

    def test_a_forked_process_has_helpers_of_its_own(self):
        equarx.run(CONFIG, BY["simgrid"])
        context = multiprocessing.get_context("fork")
        queue = context.SimpleQueue()
        child = context.Process(target=lambda: queue.put(equarx.run(CONFIG, BY["simgrid"]).to_dict()))
        child.start()
        answer = queue.get()
        child.join()
        self.assertEqual(child.exitcode, 0)
        self.assertEqual(answer, equarx.run(CONFIG, BY["simgrid"]).to_dict())


class Leaks(unittest.TestCase):
    def test_a_thousand_calls_leak_nothing(self):
        gradients = numpy.ones((4, 5000), "f4")

        def calls(count):
            for number in range(count):
                equarx.allreduce(gradients, "int8")
                equarx.quantize(gradients, "mxfp4").dequantize()
                equarx.run(CONFIG, BY["direct"])
                if number % 10 == 0:
                    equarx.run(CONFIG, BY["simgrid"])
                try:
                    equarx.run(CONFIG, {"/tensor/bytes": "2 potatoes"})
                except equarx.InputError:
                    pass

        calls(100)
        gc.collect()
        before = holdings()
        used = memory()
        calls(1000)
        gc.collect()
        self.assertEqual(holdings(), before)
        self.assertLess(memory() - used, 8 << 20)


class Helpers(unittest.TestCase):
    def ends(self, helper: int):
        """Fails unless the process ends. It ends at once; a loaded machine may take longer."""
        for _ in range(1000):
            if not pathlib.Path(f"/proc/{helper}").exists():
                return
            time.sleep(0.02)
        self.fail("the helper lives on")

    def test_helpers_end_with_the_interpreter_however_it_ends(self):
        for end in ("", "os._exit(0)", "os.kill(os.getpid(), 9)"):
            with self.subTest(end):
                code = ("import equarx, os, sys\n"
                        "equarx.run('configs/experiments/allreduce_v5e_4x2.json', {'/engine': 'simgrid', '/numerics':"
                        "'off'})\n"
                        "from equarx import _helpers\n"
                        "print([helper.process.pid for helper in _helpers._helpers._idle][0], flush=True)\n" + end)
                self.ends(int(ran(code).stdout))

    def test_an_abandoned_helper_ends_during_its_work(self):
        config = {"hardware": "tpu-v5e", "topology": {"torus": "16x16"}, "numerics": "off", "engine": "simgrid",
                  "simulation": "full", "tensor": {"bytes": "64 MiB"},
                  "collectives": [{"algorithm": "equarx", "minishards": 8, "microshards": 8}]}
        code = ("import equarx, os, threading, time\n"
                "from equarx import _program\n"
                "start = _program.start\n"
                "def record(*arguments, **options):\n"
                "    process = start(*arguments, **options)\n    print(process.pid, flush=True)\n    return process\n"
                "_program.start = record\n"
                "threading.Timer(1, lambda: os.kill(os.getpid(), 9)).start()\n"
                f"equarx.run({config!r})\n")
        self.ends(int(ran(code).stdout.split()[-1]))

    def test_a_reply_arrives_although_no_further_request_is_sent(self):
        program = pathlib.Path(os.environ["EQUARX_BUILD"], "equarx-sim")
        config = json.loads(pathlib.Path(CONFIG).read_text())
        for engine in BY:
            request = json.dumps({"config": config, "overrides": [["/engine", engine], ["/numerics", "off"]]})
            answers = subprocess.run([program, "answer"], input=request + "\n", capture_output=True, text=True,
                                     check=True).stdout.splitlines()
            self.assertEqual(len(json.loads(answers[1])["result"]["runs"]), 2)

    def test_a_killed_helper_is_replaced(self):
        from equarx import _helpers
        equarx.run(CONFIG, BY["simgrid"])
        for helper in _helpers._helpers._idle:
            os.kill(helper.process.pid, signal.SIGKILL)
        time.sleep(0.1)
        equarx.run(CONFIG, BY["simgrid"])


class Programs(unittest.TestCase):
    """The program is missing, or a different one."""

    CALL = (f"import equarx\ntry:\n    equarx.run({CONFIG!r}, {BY['simgrid']!r})\n"
            "except equarx.ProgramError as error:\n    print(error)\n")

    def complaint(self, program) -> str:
        process = ran(self.CALL, env={**os.environ, "EQUARX_SIM": str(program)})
        self.assertEqual(process.stderr, "")
        self.assertEqual(process.stdout.count("\n"), 1)
        return process.stdout

    def test_each_error_is_one_sentence(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertIn("cannot be started: No such file", self.complaint(f"{folder}/none"))
            other = pathlib.Path(folder, "other")
            for printed, message in [("equarx-sim 0.0.1", "has version 0.0.1, but this package"),
                                     ("hello", "is not equarx-sim: hello"), ("", "is not equarx-sim: exit code 0")]:
                other.write_text(f"#!/bin/sh\necho '{printed}'\n")
                other.chmod(0o755)
                self.assertIn(message, self.complaint(other))
            version = f"echo 'equarx-sim {equarx.__version__}'"
            other.write_text(f"#!/bin/sh\n[ $1 = answer ] || {version}\n")
            self.assertIn("ended without a reply", self.complaint(other))
            other.write_text(f"#!/bin/sh\n{version}\n")
            self.assertIn("replied 'equarx-sim", self.complaint(other))


if __name__ == "__main__":
    unittest.main()
