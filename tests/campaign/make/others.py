"""Cases of the commands other than `run`."""
from draw import Draw, time
from make import chips, collectives, topologies

PLAIN = ["bf16", "fp32", "fp16"]


def small(draw: Draw, *, quantized: bool = True) -> dict:
    """A fast experiment: few chips, times and values of a few KiB."""
    kind = draw.choice(["torus", "ring", "fully-connected", "slice"])
    topology = {kind: {"torus": draw.choice(["2x2", "4x2", "3x2"]), "ring": draw.choice([2, 3, 4, 8]),
                       "fully-connected": draw.choice([2, 3, 4, 8]), "slice": draw.choice(["2x2", "4x2"])}[kind]}
    chips_in_all = topologies.chips_of(topology, {})
    one = collectives.collective(draw, "all-reduce", topology, chips_in_all) if quantized else {"algorithm": "two-shot"}
    return {"hardware": draw.choice(["tpu-v5e", "tpu-v6e"]), "topology": topology,
            "tensor": {"bytes": draw.choice(["4 KiB", "64 KiB", 10000])}, "collectives": [one | {"label": "one"}]}


def hardware(draw: Draw) -> dict:
    files: dict = {}
    while "chip.json" not in files:
        chips.chip(draw, files)
    return {"config": {}, "files": files}


def topology(draw: Draw) -> dict:
    files: dict = {}
    return {"config": {"hardware": "tpu-v5e", "topology": topologies.topology(draw, "tpu-v5e", files)}, "files": files}


def tune(draw: Draw) -> dict:
    config = small(draw) | {"tensor": {"bytes": draw.choice(["4 KiB", "16 KiB"])}}
    flags = ["--formats", draw.choice(["int8,bf16", "bf16", "int8", "mxfp4,int4"])]
    way = draw.random()
    if way < 0.3:
        flags += ["--min-sqnr", f"{draw.choice([10, 20, 30, 90])} dB"]
    elif way < 0.5:
        flags += ["--max-time", time(draw, 1e-6, 1e-3)]
    elif way < 0.6:
        flags += ["--max-nmse", str(draw.log(1e-6, 1.0))]
    return {"config": config, "files": {}, "flags": flags}


def tune_step(draw: Draw) -> dict:
    """A step of one or two collectives overlapped with compute."""
    tasks = [{"name": "compute", "compute": {"time": time(draw, 1e-6, 1e-4)}}]
    for i in range(draw.randint(1, 2)):
        tasks.append({"name": f"sum {i}", "collective": {"kind": draw.choice(["all-reduce", "reduce-scatter",
                                                                              "all-gather"]),
                                                         "axes": ["x"], "bytes": draw.choice(["4 KiB", "64 KiB"])}})
        if draw.chance(0.5):
            tasks[-1]["after"] = ["compute"]
    config = {"hardware": "tpu-v5e", "topology": draw.choice([{"ring": 4}, {"torus": "2x2"}, {"fully-connected": 4}]),
              "mesh": {"x": 4}, "step": {"tasks": tasks}}
    return {"config": config, "files": {}, "flags": ["--formats", draw.choice(["int8,bf16", "int8", "mxfp4,bf16"])]}


def axis(draw: Draw, key: str) -> dict:
    if key == "/tensor/bytes":
        least, most = draw.choice([("4 KiB", "16 KiB"), ("4096 B", "8 KiB")])
        return draw.choice([{"key": key, "values": ["4 KiB", 5000]},
                            {"key": key, "log_range": {"from": least, "to": most, "factor": draw.choice([2, 1.5])}},
                            {"key": key, "range": {"from": least, "to": most, "step": "4 KiB"}}])
    if key == "/hardware/hop_latency":
        return {"key": key, "range": {"from": "100 ns", "to": "300 ns", "step": "100 ns"}}
    return {"key": key, "values": draw.sample({"/engine": ["direct", "auto"],
                                               "/topology": [{"ring": 4}, {"ring": 3}, {"torus": "2x2"}],
                                               "/collectives/one/microshards": [1, 2]}[key], 2)}


def sweep(draw: Draw) -> dict:
    config = small(draw) | {"numerics": draw.choice(["on", "off"])}
    if draw.chance(0.7):
        config["collectives"] = [{"label": "one", "algorithm": draw.choice(["ring", "equarx"])}]
        config["topology"] = {"ring": 4}
    keys = draw.sample(["/tensor/bytes", "/hardware/hop_latency", "/engine", "/topology",
                        "/collectives/one/microshards"], draw.randint(1, 2))
    axes = [axis(draw, key) for key in keys]
    plain = [one for one in axes if "values" in one]
    if len(plain) == 2 and draw.chance(0.5):
        axes = [{"zip": plain}]
    made = {"base": config, "axes": axes}
    if draw.chance(0.4):
        made["name"] = "drawn"
    if plain and draw.chance(0.3):
        made["exclude"] = [{plain[0]["key"]: plain[0]["values"][0]}]
    return {"config": made, "files": {"base.json": config}}


def calibration(draw: Draw) -> dict:
    """Measurements, which invariants replace by the times of a known chip."""
    fit = draw.sample(["collective_startup", "hop_latency", "link_efficiency", "instruction_overhead"],
                      draw.randint(1, 2))
    measurements = []
    for i in range(draw.randint(len(fit), 5)):
        config = {"topology": {"slice": draw.choice(["2x2", "4x2"])},
                  "tensor": {"bytes": draw.choice(["8 B", "64 KiB", "1 MiB", "4 MiB"])},
                  "collectives": [{"label": "a", "algorithm": draw.choice(["ring", "torus"])}], "numerics": "off"}
        one = {"what": f"measurement {i}", "source": "drawn", "role": "fit" if i < len(fit)
               else draw.choice(["fit", "check"]),
               "config": config, "measured": time(draw, 5e-6, 1e-4), "standard_error": "0.1 us"}
        if draw.chance(0.3):
            one["set"] = {"/tensor/bytes": "256 KiB"}
        if draw.chance(0.3):
            one["run"] = "a"
        if draw.chance(0.2):
            one["metric"] = draw.choice(["time_s", "core_busy_s", "breakdown/idle_s"])
        measurements.append(one)
    made = {"hardware": "tpu-v5e", "fit": fit, "measurements": measurements}
    if draw.chance(0.3):
        made["given"] = draw.sample(["dma_overhead", "wait_overhead", "barrier_time"], draw.randint(0, 2))
    if draw.chance(0.3):
        made |= {"name": "drawn", "description": "drawn"}
    return {"config": made, "files": {}}


def quantized(draw: Draw) -> dict:
    """A tensor to quantize once."""
    made = {"dtype": draw.choice(["f4", "f2", "bf16"]), "seed": draw.randrange(1000), "shape": [draw.whole(1, 3000)],
            "malformed": draw.chance(0.1), "factor": draw.log(1e-8, 1e8)}
    flags: dict = {"--format": draw.choice(collectives.SCALED + collectives.PLAIN + collectives.SHARED)}
    if draw.chance(0.5):
        flags |= {"--format": "int8", "--layout": "contiguous", "--block": str(draw.choice([1, 2, 7, 32, 1000, 5000]))}
    elif draw.chance(0.3):
        flags["--elements-per-scale"] = str(draw.choice([1, 64, 1000]))
    elif draw.chance(0.2):
        flags |= {"--format": draw.choice(["mxfp8-e4m3", "mxfp4", "mxint8"]),
                  "--scale-rounding": draw.choice(["floor", "up", "even"])}
    elif draw.chance(0.2):
        flags["--rounding"] = draw.choice(["nearest", "stochastic"])
    return {"config": {}, "files": {"tensor.npy": {"npy": made}}, "flags": flags}


def schedule(draw: Draw) -> dict:
    """A plain collective that may be exported to MSCCL."""
    ranks = draw.choice([2, 3, 4, 8])
    kind = draw.choice(["all-reduce", "all-reduce", "reduce-scatter", "all-gather", "all-to-all", "broadcast"])
    topology = draw.choice([{"fully-connected": ranks}, {"ring": ranks}])
    names = [name for name, (kinds, plain, _) in collectives.ALGORITHMS.items()
             if plain and name != "auto" and collectives.fits(name, kind, topology, ranks)]
    one = {"label": "one", "algorithm": draw.choice(names), "format": draw.choice(PLAIN), "minishards": 1,
           "microshards": draw.choice([1, 2])}
    config = {"hardware": "mi300x", "topology": topology, "collective": kind, "numerics": "off",
              "tensor": {"shape": [ranks * 16 * draw.randint(1, 64)], "dtype": one["format"]}, "collectives": [one]}
    return {"config": config, "files": {}, "bytes": ranks * 4096 * 16}
