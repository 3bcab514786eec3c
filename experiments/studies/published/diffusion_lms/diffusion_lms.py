#!/usr/bin/env python3
"""Diffusion LMS with signals and exchanges of few bits: mean-square deviation, energy and time."""
import argparse
import json
import pathlib
import sys

try:
    import equarx
    import numpy as np
except ImportError as error:
    sys.exit(f"diffusion_lms.py: error: {error}; build the package and set PYTHONPATH=build/release/python")

HERE = pathlib.Path(__file__).resolve().parent
GRAPH = HERE.parents[3] / "configs" / "topologies" / "geometric_20.json"
TAPS, RATE, NOISE, RANGE = 16, np.float32(0.02), 0.01, 3.0
BITS = (2, 3, 4, 5, 6, 8, 12, None)  # of converters; None: exact signals
# Format of messages, and whether they are differences from the reconstructed values.
EXCHANGES = {"none": None, "fp32": ("fp32", False), "int8": ("int8", False), "int6": ("int6", False),
             "int4": ("int4", False), "int8 difference": ("int8", True), "int6 difference": ("int6", True),
             "int4 difference": ("int4", True)}
LARGEST_CODE = {"int8": 127, "int6": 31, "int4": 7}
CONVERSION_J = 494e-15  # per step of a converter
LINKS_J_PER_BIT = {"wired": 1e-12, "radio": 100e-9}
REFERENCE = "12 bits", "fp32"


class Graph:
    """Neighbours in rising order and their Metropolis weights; nodes with fewer have weights of 0."""

    def __init__(self, file: pathlib.Path = GRAPH):
        stored = json.loads(file.read_text())
        self.nodes = stored["chips"]
        neighbors = [set() for _ in range(self.nodes)]
        for one, other in (map(int, link["between"]) for link in stored["links"]):
            neighbors[one].add(other)
            neighbors[other].add(one)
        self.degrees = [len(known) for known in neighbors]
        self.neighbors = np.tile(np.arange(self.nodes)[:, None], max(self.degrees))
        self.weights = np.zeros(self.neighbors.shape, "float32")
        self.own = np.ones(self.nodes, "float32")
        for node, known in enumerate(neighbors):
            for slot, other in enumerate(sorted(known)):
                self.neighbors[node, slot] = other
                self.weights[node, slot] = np.float32(1) / np.float32(1 + max(len(known), self.degrees[other]))
                self.own[node] -= self.weights[node, slot]

    def combine(self, own: np.ndarray, sent: np.ndarray) -> np.ndarray:
        """Weighted means of (nodes, ..., taps), added as by the collective `neighbor-average`."""
        shape = (-1,) + (1,) * (own.ndim - 1)
        mean = self.own.reshape(shape) * own
        for slot in range(self.neighbors.shape[1]):
            mean += self.weights[:, slot].reshape(shape) * sent[self.neighbors[:, slot]]
        return mean


def through_wire(values: np.ndarray, format: str) -> np.ndarray:
    """As equarx.quantize() with contiguous blocks of all taps; without its threads, which small arrays do not repay."""
    if format == "fp32":
        return values
    scale = np.abs(values).max(-1, keepdims=True) / np.float32(LARGEST_CODE[format])
    inverse = np.divide(np.float32(1), scale, out=np.zeros_like(scale), where=scale > 0)
    return np.rint(values * inverse) * scale


def convert(signal: np.ndarray, bits: int | None, deviation: float) -> np.ndarray:
    """A uniform converter with 2^bits levels around zero."""
    if bits is None:
        return signal
    step = 2 * RANGE * deviation / 2**bits
    level = np.clip(np.floor(signal / step), -(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    return (level + 0.5) * step


def compensation(bits: int | None) -> float:
    """E[u_q^2] / (E[u u_q] E[d d_q] / E[d^2]) of Gaussian signals, by integration."""
    if bits is None:
        return 1.0
    at = np.linspace(-8, 8, 160001)
    density = np.exp(-at * at / 2)
    density /= density.sum()
    converted = convert(at, bits, 1.0)
    return float((density * converted**2).sum() / (density * at * converted).sum() ** 2)


class Signals:
    """Signals of the nodes with each converter: u of (samples, nodes) and d of (iterations, nodes)."""

    def __init__(self, seed: int, iterations: int, nodes: int):
        random = np.random.default_rng(seed)
        weights = random.standard_normal(TAPS)
        self.weights = weights / np.linalg.norm(weights)
        u = random.standard_normal((iterations + TAPS - 1, nodes))
        lines = np.lib.stride_tricks.sliding_window_view(u, TAPS, axis=0)[..., ::-1]
        d = lines @ self.weights + np.sqrt(NOISE) * random.standard_normal((iterations, nodes))
        self.u = {bits: convert(u, bits, 1.0).astype("float32") for bits in BITS}
        self.d = {bits: convert(d, bits, np.sqrt(1 + NOISE)).astype("float32") for bits in BITS}

    def stacked(self) -> tuple[np.ndarray, np.ndarray]:
        """u (samples, nodes, courses) and d (iterations, nodes, courses): every converter as it is, then
        compensated."""
        u = np.stack([self.u[bits] for bits in 2 * BITS], 2)
        d = np.stack([self.d[bits] for bits in 2 * BITS], 2)
        d[..., len(BITS):] *= np.array([compensation(bits) for bits in BITS], "float32")
        return u, d


def delay_line(u: np.ndarray, at: int) -> np.ndarray:
    """The latest samples (nodes, courses, taps) of an iteration, newest first."""
    return np.ascontiguousarray(np.moveaxis(u[at:at + TAPS][::-1], 0, -1))


class Diffusion:
    """Estimates (nodes, courses, taps) of all converters and seeds under one exchange."""

    def __init__(self, graph: Graph, courses: int, exchange: tuple[str, bool] | None):
        self.graph, self.exchange = graph, exchange
        self.estimates = np.zeros((graph.nodes, courses, TAPS), "float32")
        self.known = np.zeros_like(self.estimates)  # reconstructed by neighbours, of differences

    def step(self, line: np.ndarray, d: np.ndarray) -> None:
        """Adapts, then combines."""
        errors = d - np.einsum("nct,nct->nc", line, self.estimates)
        adapted = self.estimates + (RATE * errors)[..., None] * line
        self.estimates = adapted if self.exchange is None else self.graph.combine(adapted, self.sent(adapted))

    def sent(self, adapted: np.ndarray) -> np.ndarray:
        format, is_difference = self.exchange
        if not is_difference:
            return through_wire(adapted, format)
        self.known = self.known + through_wire(adapted - self.known, format)
        return self.known


def deviations(seeds: list[int], iterations: int, graph: Graph) -> list[dict[str, dict[str, float]]]:
    """By seed: MSD in dB by exchange and course, over the last quarter of the iterations."""
    signals = [Signals(seed, iterations, graph.nodes) for seed in seeds]
    u, d = (np.concatenate(parts, -1) for parts in zip(*(one.stacked() for one in signals)))
    target = np.repeat([one.weights for one in signals], 2 * len(BITS), axis=0)
    running = {name: Diffusion(graph, u.shape[-1], exchange) for name, exchange in EXCHANGES.items()}
    total = dict.fromkeys(EXCHANGES, 0.0)
    for at in range(iterations):
        line = delay_line(u, at)
        for name, one in running.items():
            one.step(line, d[at])
            if at >= iterations - iterations // 4:
                total[name] = total[name] + ((one.estimates - target) ** 2).sum(-1).mean(0)
    msd = {name: (10 * np.log10(sums / (iterations // 4))).reshape(len(seeds), -1) for name, sums in total.items()}
    return [{name: dict(zip(courses(), rows[index].tolist(), strict=True)) for name, rows in msd.items()}
            for index in range(len(seeds))]


def courses() -> list[str]:
    names = ["exact" if bits is None else f"{bits} bits" for bits in BITS]
    return names + [f"{name}, compensated" for name in names]


def exchange_costs() -> dict[str, dict]:
    """Simulated time, bits and energy of one exchange by format."""
    config = json.loads((HERE / "node.json").read_text())
    config["topology"] = {"file": str(GRAPH)}
    made: dict = {}
    for link, per_bit in LINKS_J_PER_BIT.items():
        config["hardware"]["energy_link"] = f"{8 * per_bit} J/B"
        for label, run in equarx.run(config).runs.items():
            of = made.setdefault(label, {"time_s": run.time})
            of[f"{link}_j"] = run.energy_j
            of["bits"] = of["wired_j"] / LINKS_J_PER_BIT["wired"]
    return made


def energies(nodes: int, costs: dict[str, dict]) -> dict[str, dict[str, dict[str, float]]]:
    """J per iteration by link, exchange and course with converters. `costs`: of exchange_costs()."""
    made: dict = {}
    for link in LINKS_J_PER_BIT:
        for name, exchange in EXCHANGES.items():
            sent = costs[exchange[0]][f"{link}_j"] if exchange else 0.0
            made.setdefault(link, {})[name] = {
                course: 2 * nodes * CONVERSION_J * 2**bits + sent
                for course, bits in zip(courses(), 2 * BITS, strict=True) if bits is not None}
    return made


def cheapest(msd: dict, energy: dict) -> dict:
    """The setting of least energy within 1 dB of the reference, relative to it."""
    course, exchange = REFERENCE
    limit = msd[exchange][course] + 1
    joules, name, sent = min((joules, name, sent) for sent, by_course in energy.items()
                             for name, joules in by_course.items() if msd[sent][name] <= limit)
    return {"converter": name, "exchange": sent, "energy_j": joules, "share": joules / energy[exchange][course]}


def claims(msd: dict, energy: dict) -> dict[str, bool]:
    """For one seed."""
    fp32, exact = msd["fp32"], msd["fp32"]["exact"]
    return {"1 cooperation": msd["none"]["exact"] - exact >= 8,
            "2 saturation": all(abs(fp32[f"{bits} bits"] - exact) <= 1 for bits in (6, 8, 12))
            and fp32["3 bits"] - exact > 1,
            "3 compensation": fp32["2 bits"] - fp32["2 bits, compensated"] >= 3,
            "4 coarse exchange": msd["int4"]["exact"] > msd["none"]["exact"],
            "5 differences": abs(msd["int4 difference"]["exact"] - exact) <= 1,
            "6 energy": all(cheapest(msd, energy[link])["share"] <= 1 / 5 for link in energy)}


def study(seeds: int, iterations: int) -> dict:
    graph = Graph()
    costs = exchange_costs()
    energy = energies(graph.nodes, costs)
    by_seed = deviations(list(range(1, seeds + 1)), iterations, graph)
    mean = {name: {course: float(np.mean([one[name][course] for one in by_seed])) for course in courses()}
            for name in EXCHANGES}
    held = [claims(one, energy) for one in by_seed]
    verdicts = {claim: "hit" if all(one[claim] for one in held) else "miss" for claim in held[0]}
    return {"msd_db": mean, "exchange": costs, "energy_j": energy,
            "cheapest": {link: cheapest(mean, energy[link]) for link in energy},
            "against": {"int4": mean["int4"]["exact"] - mean["none"]["exact"],
                        "none": mean["fp32"]["exact"] - mean["none"]["exact"],
                        "int4 difference": mean["int4 difference"]["exact"] - mean["fp32"]["exact"],
                        "6 bits": mean["fp32"]["6 bits"] - mean["fp32"]["exact"]},
            "claims": verdicts, "hits": sum(verdict == "hit" for verdict in verdicts.values()), "seeds": by_seed}


def show(result: dict) -> None:
    print(f"{'MSD, dB':22}" + "".join(f"{name:>17}" for name in EXCHANGES))
    for course in courses():
        print(f"{course:22}" + "".join(f"{result['msd_db'][name][course]:17.1f}" for name in EXCHANGES))
    for format, cost in result["exchange"].items():
        print(f"{format:6}{cost['bits']:8.0f} bits{cost['time_s'] * 1e3:8.3f} ms{cost['wired_j'] * 1e9:9.2f} nJ wired"
              f"{cost['radio_j'] * 1e3:9.3f} mJ by radio")
    for link, best in result["cheapest"].items():
        print(f"{link}: {best['converter']}, {best['exchange']}: {best['energy_j']:.3g} J, {best['share']:.3f} of "
              f"{REFERENCE[0]} with {REFERENCE[1]}")
    for claim, verdict in result["claims"].items():
        print(f"{verdict:5} {claim}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=pathlib.Path, required=True, metavar="DIR")
    parser.add_argument("--reduced", action="store_true", help="one seed and few iterations: seconds")
    chosen = parser.parse_args()
    result = study(1, 200) if chosen.reduced else study(3, 4000)
    chosen.output.mkdir(parents=True, exist_ok=True)
    part = chosen.output / "results.json.part"
    part.write_text(json.dumps(result, indent=2) + "\n")
    part.replace(chosen.output / "results.json")
    show(result)


if __name__ == "__main__":
    main()
