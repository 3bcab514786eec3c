"""What must be quick."""
import resource
import subprocess
import sys
import time
import unittest

import equarx
import numpy

CONFIG = "configs/experiments/allreduce_v5e_4x2.json"
TRIES = 20


def own_time() -> float:
    """Processor time of this process, in seconds: others may use the computer, too."""
    return time.process_time()


def childrens_time() -> float:
    """Processor time of the processes that it has waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def least(call, clock=own_time, tries=TRIES) -> float:
    """The least time of a call, in seconds."""
    times = []
    for _ in range(tries):
        start = clock()
        call()
        times.append(clock() - start)
    return min(times)


class Speed(unittest.TestCase):
    def test_the_package_is_imported_at_once(self):
        def spent(code):
            return least(lambda: subprocess.run([sys.executable, "-c", code], check=True), childrens_time)
        self.assertLess(spent("import equarx") - spent("pass"), 0.2)
        loaded = "import sys, equarx; print(*{'numpy', 'pandas', 'matplotlib', 'torch'} & set(sys.modules))"
        self.assertEqual(subprocess.run([sys.executable, "-c", loaded], check=True, capture_output=True,
                                        text=True).stdout, "\n")

    def test_a_run_takes_little_after_the_first(self):
        equarx.run(CONFIG, {"/numerics": "off"})
        self.assertLess(least(lambda: equarx.run(CONFIG, {"/numerics": "off"})), 0.03)

    def test_an_allreduce_takes_what_the_values_take(self):
        """Beside the same work again, in which nothing is planned or made."""
        gradients = numpy.random.default_rng(1).standard_normal((8, 4096, 512)).astype("f4")
        outcome = equarx.allreduce(gradients, "int8", topology={"slice": "4x2"})
        out = numpy.empty_like(outcome.result)
        ranks = list(gradients)
        values = least(lambda: outcome._core.run(ranks, "fp32", out, 0, 1))
        whole = least(lambda: equarx.allreduce(gradients, "int8", topology={"slice": "4x2"}))
        self.assertGreater(values / whole, 0.9)


if __name__ == "__main__":
    unittest.main()
