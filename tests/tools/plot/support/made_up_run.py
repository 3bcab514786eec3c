"""Made-up results of single runs and of tunings, for tests of the picture tools. No number here is a result."""
import itertools
import json
import pathlib


def grid_links(lengths: list[int], wraparound: bool, busy) -> list[dict]:
    """Both directions of every cable of a grid; busy(start, end) is a share of the time."""
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
    """What `equarx-sim run CONFIG --json --links` prints for a grid, as far as pictures need it."""
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
    """What `equarx-sim run CONFIG --json --sensitivity` prints, as far as pictures need it.

    The time of each collective depends half as much on everything as that of the one before it.
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
    """What `equarx-sim tune CONFIG --json` prints, as far as pictures need it: twice the time, a third of the error."""
    config = result([4, 2])["config"]
    front = [{"label": f"equarx int8 {place}", "time_s": 1e-4 * 2**place, "nmse": 1e-3 / 3**place, "minishards": 8,
              "collective": {"algorithm": "equarx", "ring": "full-loop", "format": "int8", "layout": "strided",
                             "elements_per_scale": 128, "microshards": 4}} for place in range(members)]
    others = [dict(front[0], time_s=3e-4)]
    return {"config": config, "chips": 8, "limits": {"max_nmse": max_nmse, "max_time_s": max_time_s},
            "counts": {"simulated": members + 1, "candidates": 100}, "best": 0, "front": front, "others": others,
            "baseline": {"label": "bf16", "time_s": 2e-4, "nmse": 1e-5}}


def write_result(path: pathlib.Path, content: dict) -> None:
    """Writes it as JSON."""
    path.write_text(json.dumps(content), encoding="utf-8")
