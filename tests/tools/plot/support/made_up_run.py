"""Made-up results of runs, tunings, advice and comparisons, for tests of pictures."""
import itertools
import json
import pathlib


def grid_links(lengths: list[int], wraparound: bool, busy) -> list[dict]:
    """Both directions of every link of a grid; busy(start, end): share of the time."""
    links = []
    for chip in itertools.product(*map(range, lengths)):
        for axis, length in enumerate(lengths):
            if chip[axis] + 1 == length and not (wraparound and length > 2):
                continue
            other = tuple((place + (i == axis)) % lengths[i] for i, place in enumerate(chip))
            for start, end in ((chip, other), (other, chip)):
                first, last = (f"({','.join(map(str, ends))})" for ends in (start, end))
                links.append({"name": f"{first}->{last}", "from": first, "to": last, "bytes": 1 << 20,
                              "busy_s": busy(start, end) * 1e-4, "utilisation": busy(start, end)})
    return links


def result(lengths: list[int], wraparound: bool = False, busy=lambda start, end: 0.5,
           labels=("bf16",)) -> dict:
    """Output of `equarx-sim run CONFIG --json --links` for a grid, reduced to the keys of pictures."""
    chips = 1
    for length in lengths:
        chips *= length
    shape = "x".join(map(str, lengths))
    return {"config": {"hardware": "tpu-v5e", "topology": {"torus" if wraparound else "mesh": shape},
                       "tensor": {"bytes": "4 MiB", "dtype": "bf16"}, "collective": "all-reduce"},
            "runs": [{"label": label, "chips": chips, "time_s": 1e-4,
                      "links": grid_links(lengths, wraparound, busy)} for label in labels]}


# Value with its unit, class, relative uncertainty, elasticity of the first collective's time.
PARAMETERS = {
    "link_bandwidth": ("45 GB/s", "datasheet", 0.0, -0.9),
    "barrier_time": ("380 ns", "assumed", 0.5, 0.3),
    "hop_latency": ("360 ns", "calibrated", 0.02, 0.001),
    "wait_overhead": ("10 ns", "assumed", 0.4, 0.0009),
    "vector_rate": ("6 Top/s", "datasheet", 0.0, 0.0),
}


def sensitivities(labels=("bf16", "int8")) -> dict:
    """Output of `equarx-sim run CONFIG --json --sensitivity`, reduced to the keys of pictures.

    Each collective has half the elasticities of the previous one.
    """
    content = result([4, 2], labels=labels)
    content["parameters"] = {name: {"value": value, "class": provenance}
                             for name, (value, provenance, _, _) in PARAMETERS.items()}
    content["parameters"]["barrier_time"]["range"] = ["20 ns", "740 ns"]
    content["parameters"] |= {"links": {"value": 4, "class": "datasheet"},
                              "collective_startup": {"value": "0 s", "class": "assumed", "range": ["0 s", "5 us"]}}
    content["sensitivity"] = [
        {"parameter": name, "value": 1.0, "class": provenance, "relative_uncertainty": uncertainty,
         "runs": [{"label": label, "time": elasticity / 2**place, "speedup": 0.0}
                  for place, label in enumerate(labels)]}
        for name, (_, provenance, uncertainty, elasticity) in PARAMETERS.items()]
    return content


def tuning(members: int, max_nmse: float | None = None, max_time_s: float | None = None) -> dict:
    """Output of `equarx-sim tune CONFIG --json`, reduced; each member has twice the time and a third of the error."""
    config = result([4, 2])["config"]
    front = [{"label": f"equarx int8 {place}", "time_s": 1e-4 * 2**place, "nmse": 1e-3 / 3**place, "minishards": 8,
              "collective": {"algorithm": "equarx", "ring": "full-loop", "format": "int8", "layout": "strided",
                             "elements_per_scale": 128, "microshards": 4}} for place in range(members)]
    others = [dict(front[0], time_s=3e-4)]
    return {"config": config, "chips": 8, "limits": {"max_nmse": max_nmse, "max_time_s": max_time_s},
            "counts": {"simulated": members + 1, "candidates": 100}, "best": 0, "front": front, "others": others,
            "baseline": {"label": "bf16", "time_s": 2e-4, "nmse": 1e-5}}


def advice(speedups=(0.5, 1.25, 1.75), **changes) -> dict:
    """Output of `equarx-sim advise CONFIG --json`, reduced; speedups from 1 MiB, for a tensor of 4 MiB."""
    config = result([4, 2])["config"]
    sizes = [{"tensor_bytes": 2 ** (20 + place), "speedup": speedup} for place, speedup in enumerate(speedups)]
    return {"program": "equarx-sim", "version": "9.8.7", "config_hash": "abc", "config": config, "chips": 8,
            "calibrated": True, "quantize": "yes", "plain": {"label": "ring bf16"},
            "quantized": {"label": "equarx int8", "sqnr_db": 36.04}, "nearest": None,
            "speedup": speedups[-1], "of_one_allreduce": False, "sensitive_to": [], "sizes": sizes,
            "pays_from_bytes": 2**21, "uncertainty": {"samples": 200, "speedup_low": 1.5, "speedup_high": 1.9},
            **changes}


def step_advice(groups: list[dict], **changes) -> dict:
    """Output of `equarx-sim advise CONFIG --json` of a step, reduced; groups: see group_advice()."""
    config = {"hardware": "tpu-v5e", "topology": {"slice": "4x4"},
              "mesh": {"data": {"length": 4, "axes": [0]}, "model": {"length": 4, "axes": [1]}}}
    runs = [{"label": label, "chips": 16, "time_s": time_s, "calibrated": True, "groups": [], "tasks": [],
             "critical_path": []} for label, time_s in (("plain", 0.2), ("advised", 0.16))]
    advice = {"quantize": "yes", "speedup": 1.25, "worst_nmse": 1e-3, "mean_nmse": 1e-4,
              "uncertainty": {"samples": 22, "speedup_low": 1.2, "speedup_high": 1.3}, "groups": groups}
    return {"program": "equarx-sim", "version": "9.8.7", "config_hash": "abc", "config": config, "runs": runs,
            "advice": advice | changes}


def group_advice(name: str, answer: str, speedup: float | None, reason: str = "") -> dict:
    """Advice on a group of a step; without a candidate if there is no speedup."""
    made = {"group": name, "quantize": answer, "reason": reason, "break_even_bytes": 2**19, "share_of_bytes": 0.5}
    if speedup is None:
        return made | {"break_even_bytes": None}
    return made | {"label": "torus int8", "sqnr_db": 39.5, "step_speedup": speedup,
                   "step_speedup_low": speedup - 0.01, "step_speedup_high": speedup + 0.02}


def sites(*found: dict | None) -> dict:
    """Output of `equarx-sim advise CONFIG --chips ... --json`; None for an infeasible site."""
    return {"program": "equarx-sim", "version": "9.8.7",
            "sites": [{"chip": f"chip {number}", "topology": "mesh 4x2", "advice": one,
                       "why_not": None if one else "too many links"} for number, one in enumerate(found)]}


CLASSES = ("0", "1", "2", "3 to 4", "5 to 8", "9 or more")


def _ulps(counts: list[int], nonfinite: int = 0) -> dict:
    elements = sum(counts) + nonfinite
    return {"elements": elements, "by_distance": dict(zip(CLASSES, counts)), "nonfinite": nonfinite,
            "differing": elements - counts[0], "differing_share": 1 - counts[0] / elements}


def contract(*changes: dict, sizes: bool = True) -> dict:
    """Output of `equarx-sim contract CONFIG --json`, reduced; a collective for each of the changes."""
    config = {"hardware": "h100", "topology": {"switch": 8}, "collective": "all-reduce",
              "tensor": {"bytes": "4 MiB", "dtype": "bf16", "values": {"distribution": "normal"}}}
    tried = [{"bytes": 1024, "obstacle": "too small"}, {"bytes": 4096, "ulps": _ulps([1, 3, 0, 0, 0, 0])},
             {"bytes": 16384, "ulps": _ulps([4, 0, 0, 0, 0, 0])}] if sizes else []
    made = [{"label": f"collective {number}", "time_s": 1e-5 * (number + 1), "path": {"text": "7 x bf16"},
             "nmse": 1e-5, "expected_nmse": 1.1e-5, "ulps": _ulps([50, 20, 10, 10, 5, 5]), "ranks_identical": True,
             "ranks_differing": 0, "same_at_all_cuts": True, "same_for_all_ranks": False if sizes else None,
             "sizes": tried, **changed} for number, changed in enumerate(changes)]
    switching = {"switching": {"sizes": tried, "same_at_all_sizes": False}} if sizes and len(made) > 1 else {}
    return {"program": "equarx-sim", "version": "9.8.7", "config_hash": "abc", "config": config, "chips": 8,
            "calibrated": True, "collectives": made, **switching}


def served(load: float = 4, requests: int = 0, capacity: float | None = None, **load_keys) -> dict:
    """Output of `equarx-sim serve CONFIG --json`, reduced; latencies of request i are i + 1 times 10 ms and 1 ms.

    Requests arrive every 10 ms, and end after 0.1 s."""
    arrivals = load_keys or {"requests_per_s": load}
    config = {"hardware": "tpu-v5e", "topology": {"slice": "4x2"},
              "serving": {"model": "models/llama.json", "load": arrivals}}
    made = {"version": "9.8.7", "config": config, "chips": 8, "calibrated": True,
            "ttft": {"p50_s": 0.05 * load, "p99_s": 0.1 * load}, "tpot": {"p50_s": 0.005 * load, "p99_s": 0.01 * load}}
    if "concurrency" not in arrivals:
        made["offered_requests_per_s"] = load
    if capacity:
        made["capacity_requests_per_s"] = capacity
    if requests:
        made["requests_list"] = [{"arrival_s": one * 1e-2, "ttft_s": (one + 1) * 1e-2, "tpot_s": (one + 1) * 1e-3,
                                  "latency_s": 0.1} for one in range(requests)]
    return made


def plan(calibrated: bool = True) -> dict:
    """Output of `equarx-sim plan ... --json`, reduced: two candidates, and two steady states."""
    def candidate(chip: str, chips: int, collective: str | None, rate: float) -> dict:
        points = [{"requests_per_s": rate * part, "tokens_per_s_per_user": 40 - 10 * part,
                   "output_tokens_per_s": 100 * rate * part} for part in (0.5, 1)]
        return {"chip": chip, "chips": chips, "calibrated": calibrated or chip == "h100", "precision": "fp8", "kv": "bf16",
                "collective": collective, "estimated_tpot_s": 0.04, "output_tokens_per_s_per_chip": 100 * rate / chips,
                "dollars_per_million_tokens": 2.5 if chips == 4 else None, "points": points}
    ranked = [candidate("h100", 4, "int8", 8), candidate("tpu-v4", 1, None, 1)]
    return {"version": "9.8.7", "ranked": ranked, "estimated": ranked, "obstacles": [],
            "request": {"model": "models/llama.json", "isl": 1000, "osl": 100, "ttft_s": 1, "tpot_s": 0.05,
                        "percentile": 0.9}}


def comparison(times=((2e-4, 1e-4), (1e-4, 8e-5))) -> dict:
    """Output of `equarx-sim compare A.json B.json --json`, reduced; times of collectives in A and B."""
    collectives = [{"label": f"collective {number}", "in_a": a is not None, "in_b": b is not None,
                    "numbers": [{"name": "time_s", "a": a, "b": b, "ratio": None},
                                {"name": "speedup", "a": 1.0, "b": 1.5, "ratio": 1.5}]}
                   for number, (a, b) in enumerate(times)]
    return {"a": {"file": "a.json", "version": "9.8.7"}, "b": {"file": "b.json", "version": "9.8.7"},
            "configuration": [{"pointer": "/hardware", "a": "tpu-v5e", "b": "tpu-v6e"}], "parameters": [],
            "collectives": collectives}


def write_result(path: pathlib.Path, content: dict) -> None:
    """Writes it as JSON."""
    path.write_text(json.dumps(content), encoding="utf-8")
