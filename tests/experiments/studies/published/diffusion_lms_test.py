"""The study of diffusion LMS: its reduced form, and its arrays against scalar loops and the collective."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import diffusion_lms as study
import equarx
import numpy as np

GRAPH = study.Graph()


def scalar_weights() -> dict:
    """Metropolis weights by (node, neighbour), from the file."""
    links = [tuple(map(int, link["between"])) for link in json.loads(study.GRAPH.read_text())["links"]]
    degree = [sum(node in link for link in links) for node in range(20)]
    weights = {}
    for one, other in links:
        weights[one, other] = weights[other, one] = 1 / (1 + max(degree[one], degree[other]))
    return weights


def scalar_convert(value: float, bits: int, deviation: float) -> float:
    """The nearest of the 2^bits levels, found by trying all."""
    step = 2 * 3.0 * deviation / 2**bits
    levels = [(index + 0.5) * step for index in range(-2 ** (bits - 1), 2 ** (bits - 1))]
    return min(levels, key=lambda level: abs(level - value))


def scalar_int4(values: list[float]) -> list[float]:
    scale = max(map(abs, values)) / 7
    return [round(value / scale) * scale if scale else 0.0 for value in values]


def scalar_courses(signals: study.Signals, iterations: int, bits: int, exchange: str) -> list[list[float]]:
    """Estimates of all nodes after some iterations, in float64."""
    weights, nodes = scalar_weights(), range(20)
    estimates = [[0.0] * study.TAPS for _ in nodes]
    known = [[0.0] * study.TAPS for _ in nodes]
    for at in range(iterations):
        adapted = []
        for node in nodes:
            line = [float(signals.u[bits][at + study.TAPS - 1 - tap, node]) for tap in range(study.TAPS)]
            error = float(signals.d[bits][at, node]) - sum(u * w for u, w in zip(line, estimates[node]))
            adapted.append([w + 0.02 * error * u for u, w in zip(line, estimates[node])])
        for node in nodes:
            if exchange == "int4 difference":
                moved = scalar_int4([a - b for a, b in zip(adapted[node], known[node])])
                known[node] = [a + b for a, b in zip(known[node], moved)]
            else:
                known[node] = adapted[node] if exchange == "fp32" else scalar_int4(adapted[node])
        for node in nodes:
            own = 1 - sum(weight for (one, _), weight in weights.items() if one == node)
            estimates[node] = [own * adapted[node][tap] + sum(
                weight * known[other][tap] for (one, other), weight in weights.items() if one == node)
                for tap in range(study.TAPS)]
    return estimates


class Exchange(unittest.TestCase):
    def test_combinations_equal_the_collective_bit_for_bit(self):
        values = np.random.default_rng(5).standard_normal((20, study.TAPS)).astype("float32")
        for format in ("fp32", "int8", "int6", "int4"):
            combined = GRAPH.combine(values, study.through_wire(values, format))
            options = {} if format == "fp32" else {"layout": "contiguous", "block": study.TAPS}
            outcome = equarx.neighbor_average(values, format, topology={"file": str(study.GRAPH)}, **options)
            np.testing.assert_array_equal(outcome.result, combined, format)
            np.testing.assert_array_equal(outcome.of_rank(7), combined[7], format)

    def test_formats_equal_the_package_bit_for_bit(self):
        random = np.random.default_rng(2)
        values = (random.standard_normal((20000, study.TAPS)) * random.random((20000, 1))).astype("float32")
        values[7] = 0
        for format in ("int8", "int6", "int4"):
            stored = equarx.quantize(values, format, layout="contiguous", block=study.TAPS)
            np.testing.assert_array_equal(study.through_wire(values, format), stored.dequantize(), format)

    def test_repeated_combinations_approach_the_mean_over_all_nodes(self):
        values = np.random.default_rng(6).standard_normal((20, study.TAPS)).astype("float32")
        mean = values.mean(0)
        for _ in range(1500):
            values = GRAPH.combine(values, values)
        np.testing.assert_allclose(values, np.tile(mean, (20, 1)), atol=1e-4)

    def test_bits_and_energy_are_those_of_88_messages(self):
        costs = study.exchange_costs()
        for format, bits in (("fp32", 16 * 32), ("int8", 16 * 8 + 32), ("int6", 16 * 6 + 32), ("int4", 16 * 4 + 32)):
            self.assertAlmostEqual(costs[format]["bits"], 88 * bits, 3)
            self.assertAlmostEqual(costs[format]["radio_j"], 88 * bits * 100e-9, 12)
            self.assertGreater(costs[format]["time_s"], bits / 250e3)
            self.assertLess(costs[format]["time_s"], 1.01 * bits / 250e3 + 60e-6)


class Signals(unittest.TestCase):
    def test_a_converter_finds_the_nearest_level(self):
        values = np.random.default_rng(1).standard_normal(500) * 1.5
        for bits in (1, 2, 5):
            made = study.convert(values, bits, 1.2)
            np.testing.assert_allclose(made, [scalar_convert(value, bits, 1.2) for value in values], rtol=1e-12)

    def test_compensation_of_two_bits_is_its_closed_form(self):
        # Levels of +-0.75 and +-2.25 with a threshold of 1.5
        from math import erf, exp, pi, sqrt
        inside, density = erf(1.5 / sqrt(2)), lambda at: exp(-at * at / 2) / sqrt(2 * pi)
        power = 0.75**2 * inside + 2.25**2 * (1 - inside)
        gain = 2 * (0.75 * (density(0) - density(1.5)) + 2.25 * density(1.5))
        self.assertAlmostEqual(study.compensation(2), power / gain**2, 4)
        self.assertEqual(study.compensation(None), 1.0)


class Course(unittest.TestCase):
    def test_arrays_agree_with_scalar_loops(self):
        signals = study.Signals(3, 40, 20)
        u, d = signals.stacked()
        for exchange in ("fp32", "int4", "int4 difference"):
            course = study.Diffusion(GRAPH, u.shape[-1], study.EXCHANGES[exchange])
            for at in range(40):
                course.step(study.delay_line(u, at), d[at])
            expected = scalar_courses(signals, 40, 4, exchange)
            np.testing.assert_allclose(course.estimates[:, study.BITS.index(4)], expected, atol=2e-5, err_msg=exchange)

    def test_cooperation_is_a_choice(self):
        u, d = study.Signals(3, 5, 20).stacked()
        alone, line = study.Diffusion(GRAPH, u.shape[-1], None), study.delay_line(u, 0)
        alone.step(line, d[0])
        np.testing.assert_array_equal(alone.estimates, (study.RATE * d[0])[..., None] * line)

    def test_compensated_signals_are_scaled(self):
        _, d = study.Signals(3, 5, 20).stacked()
        half = len(study.BITS)
        np.testing.assert_allclose(d[..., half], d[..., 0] * study.compensation(2), rtol=1e-6)
        np.testing.assert_array_equal(d[..., -1], d[..., half - 1])


class Reduced(unittest.TestCase):
    def test_the_reduced_study_writes_its_results(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, "-B", study.__file__, "--reduced", "--output", folder], check=True,
                                  capture_output=True, text=True)
            result = json.loads((pathlib.Path(folder) / "results.json").read_text())
        self.assertEqual(len(result["claims"]), 6)
        self.assertIn("12 bits with fp32", done.stdout)
        for exchange, by_course in result["msd_db"].items():
            self.assertTrue(all(np.isfinite(list(by_course.values()))), exchange)
        self.assertLess(result["msd_db"]["fp32"]["exact"], result["msd_db"]["none"]["exact"])
        rows = json.loads((pathlib.Path(study.__file__).parent / "study.json").read_text())["rows"]
        for row in rows:
            found = result
            for key in row["metric"].split("/")[1:]:
                found = found[key]
            self.assertIsInstance(found, (int, float), row["id"])


if __name__ == "__main__":
    unittest.main()
