"""Ctrl-C raises an interrupt at once, during any operation."""
import os
import pathlib
import subprocess
import sys
import time
import unittest
import uuid

from processes import ran

ROOT = pathlib.Path(__file__).resolve().parents[3]


def processes_with(mark: str) -> list[int]:
    """Processes with this in their environment."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
        except OSError:  # gone, or another user's
            continue
    return found


def until(holds) -> None:
    end = time.monotonic() + 30
    while not holds():
        if time.monotonic() > end:
            raise AssertionError("not within 30 s")
        time.sleep(0.02)


SCRIPT = """
import os, signal, threading, time
import equarx, numpy

def run():
    return equarx.run('configs/experiments/allreduce_v5e_4x2.json', {{'/numerics': 'off', '/engine': 'simgrid'}})

def interrupt():
    global sent
    sent = time.monotonic()
    os.kill(os.getpid(), signal.SIGINT)

run()
arrays = [numpy.ones(1 << 27, "f4")] * 8  # before: NumPy does not look for signals
threading.Timer(0.4, interrupt).start()
try:
    {call}
    print("done")
except KeyboardInterrupt:
    print(time.monotonic() - sent)
run()  # goes on as before
"""


class Interrupts(unittest.TestCase):
    LONG = {
        "values": "equarx.allreduce(arrays, 'int8', hardware='tpu-v5p')",
        "direct engine": "equarx.run({'hardware': 'tpu-v5e', 'topology': {'torus': '16x16x4'}, 'numerics': 'off',"
                         "'engine': 'direct', 'simulation': 'full', 'tensor': {'bytes': '64 MiB'}, 'collectives':"
                         "[{'algorithm': 'equarx', 'minishards': 8, 'microshards': 8}]})",
        "SimGrid": "equarx.run({'hardware': 'tpu-v5e', 'topology': {'torus': '16x16'}, 'numerics': 'off', 'engine':"
                   "'simgrid', 'simulation': 'full', 'tensor': {'bytes': '64 MiB'}, 'collectives': [{'algorithm':"
                   "'equarx', 'minishards': 8, 'microshards': 8}]})",
        "sweep": "equarx.sweep('configs/experiments/allreduce_v5e_4x2.json', {'/tensor/values/seed': list(range(500))})",
    }

    def test_ctrl_c_is_an_interrupt_at_once(self):
        for what, call in self.LONG.items():
            with self.subTest(what):
                process = ran(SCRIPT.format(call=call))
                self.assertEqual(process.stderr, "")
                self.assertNotEqual(process.stdout, "done\n")
                self.assertLess(float(process.stdout), 0.2)

    def test_children_of_a_killed_process_end_with_it(self):
        for what in ("sweep", "SimGrid"):
            with self.subTest(what):
                mark = f"EQUARX_TEST_MARK={uuid.uuid4().hex}"
                name, value = mark.split("=")
                process = subprocess.Popen([sys.executable, "-c", f"import equarx\n{self.LONG[what]}"], cwd=ROOT,
                                           env=os.environ | {name: value}, stderr=subprocess.DEVNULL)
                until(lambda: len(processes_with(mark)) > 2)  # the program, and its own children
                process.kill()
                process.wait()
                until(lambda: not processes_with(mark))


if __name__ == "__main__":
    unittest.main()
