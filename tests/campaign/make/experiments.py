"""Whole experiments: one collective, or a phase of a transformer."""
from draw import Draw, size, time
from make import chips, collectives, models, topologies

BYTES = {"fp32": 4, "bf16": 2, "fp16": 2, "fp8-e4m3": 1, "fp8-e5m2": 1, "float32": 4, "half": 2, "e5m2": 1}
KINDS = ["all-reduce"] * 6 + ["reduce-scatter", "all-gather", "all-to-all", "broadcast", "neighbor-average"]
LARGEST = 96 * 1024  # bytes of a tensor: values of all ranks are computed
LARGEST_TIMED = 256 << 20  # of one with times only
SCHEMES, FORMATS = (sorted(path.stem for path in (chips.ROOT / "configs" / folder).glob("*.json"))
                    for folder in ("schemes", "formats"))


def values(draw: Draw, ranks: int, files: dict, tensor: dict) -> dict:
    made = {}
    if draw.chance(0.15):
        dtype = draw.choice(["f4", "f2", "bf16"])
        shape = [draw.randint(1, 40), draw.randint(1, 60)]
        of = {"dtype": dtype, "seed": draw.randrange(1000), "malformed": draw.chance(0.2), "factor": draw.log(1e-6, 1e6)}
        kind, ending = draw.choice([("npy", "npy"), ("safetensors", "safetensors")])
        if kind == "safetensors" and draw.chance(0.5):
            made["tensor"] = of["name"] = "layer 1"
        tensor.clear()
        if draw.chance(0.5):
            files[f"all.{ending}"] = {kind: of | {"shape": [ranks, *shape]}}
            return made | {"files": [f"all.{ending}"]}
        names = [f"rank{i}.{ending}" for i in range(ranks)]
        files.update({name: {kind: of | {"shape": shape, "seed": of["seed"] + i}} for i, name in enumerate(names)})
        return made | {"files": names}
    if draw.chance(0.5):
        made["distribution"] = draw.choice(["normal", "uniform", "heavy-tailed"])
    if draw.chance(0.5):
        made["seed"] = draw.choice([0, 1, 7, 2**31, 2**63 - 1])
    if draw.chance(0.3):
        made["ranks"] = draw.choice(["independent", "identical"])
    return made


def residual(draw: Draw, files: dict, shape: list) -> dict:
    """The values of a residual for tensors of this shape; synthetic if the shape is empty."""
    if shape and draw.chance(0.5):
        files["residual.safetensors"] = {"safetensors": {"dtype": "f4", "seed": 3, "malformed": False, "factor": 1.0,
                                                         "name": "layer 1", "shape": shape}}
        return {"files": ["residual.safetensors"], "tensor": "layer 1"}
    return {"distribution": draw.choice(["normal", "uniform", "heavy-tailed"]), "seed": draw.randrange(1000)}


def tensor(draw: Draw, ranks: int, files: dict) -> dict:
    made: dict = {}
    if draw.chance(0.6):
        made["dtype"] = draw.choice(list(BYTES))
    if draw.chance(0.5):
        made["bytes"] = size(draw, 256 if draw.chance(0.8) else 1, LARGEST, BYTES[made.get("dtype", "bf16")])
    else:
        made["shape"] = draw.choice([[draw.whole(1, 9000)], [draw.whole(1, 90), draw.whole(8, 120)],
                                     [5, 7, draw.whole(1, 400)]])
    if draw.chance(0.5):
        made["values"] = values(draw, ranks, files, made)
    if draw.chance(0.2):
        made["sample"] = draw.choice([1, 0.5, 0.1, 0.999, 1e-6])
    if draw.chance(0.15):
        made["residual"] = residual(draw, files, made.get("shape", []))
    return made


def counts(draw: Draw, ranks: int, files: dict) -> dict:
    """Rows of a tensor with counts, few enough that values of all ranks are computed."""
    row = [draw.choice([1, 7, 64])]
    if draw.chance(0.3):
        files["counts.csv"] = "".join(",".join(str(draw.randint(0, 9)) for _ in range(ranks)) + "\n"
                                      for _ in range(ranks))
        return {"shape": row, "counts": {"file": "counts.csv"}}
    made: dict = {"tokens": draw.randint(1, 30), "experts": ranks * draw.randint(1, 3)}
    made["top_k"] = draw.randint(1, min(made["experts"], 4))
    for key, entries in (("skew", [0, 0.5, 2]), ("seed", [0, 7]), ("capacity_factor", [0.5, 1, 2.5]),
                         ("rows_per", ["expert", "rank"]), ("direction", ["dispatch", "combine"])):
        if draw.chance(0.4):
            made[key] = draw.choice(entries)
    return {"shape": row, "counts": made}


def faults(draw: Draw, topology: dict, files: dict) -> dict:
    pairs = topologies.joined(topology, files)
    made: dict = {}
    if pairs and draw.chance(0.8):
        made["links"] = []
        for pair in draw.sample(pairs, min(len(pairs), draw.randint(1, 2))):
            link: dict = {"between": list(pair)}
            if draw.chance(0.7):
                link["bandwidth_factor"] = draw.choice([1, 1.0, draw.log(1e-3, 10), draw.log(0.1, 1)])
            if len(link) == 1 or draw.chance(0.3):
                link["extra_latency"] = time(draw, 1e-9, 1e-4)
            if draw.chance(0.2):
                link["fails_at"] = draw.choice(["0 s", time(draw, 1e-7, 1e-3)])
            made["links"].append(link)
    names = sorted({name for pair in pairs for name in pair if not name.endswith("switch")})
    if names and draw.chance(0.4):
        made["chips"] = [{"chip": draw.choice(names), "slowdown": draw.log(0.1, 20)}]
    return made


def precision(draw: Draw) -> object:
    if draw.chance(0.4):
        return draw.choice(SCHEMES)
    keys = {"source": ["a test"], "unit": ["bf16", "fp16", "fp32", "int8"], "weights": FORMATS, "activations": FORMATS,
            "accumulate": ["fp32", "int32"], "scales": ["before", "by-group", "end"]}
    likely = ("unit", "weights", "activations")
    return {key: draw.choice(values) for key, values in keys.items() if draw.chance(0.6 if key in likely else 0.3)}


def workload(draw: Draw, files: dict, chips: int) -> dict:
    made = {"model": models.model(draw, files, chips), "phase": draw.choice(["prefill", "decode"])}
    made["tokens" if made["phase"] == "prefill" else "context"] = draw.whole(1, 256)
    if draw.chance(0.4):
        made["batch"] = draw.whole(1, 4)
    if draw.chance(0.3):
        made["precision"] = precision(draw)
    if draw.chance(0.2):
        made["kv"] = draw.choice(["int8-row", "e4m3-row"])
    if draw.chance(0.2):
        made["residual"] = draw.choice(["hbm", "vmem"])
    if draw.chance(0.2):
        made["preset"] = "xla-unfused"
    if draw.chance(0.2) and made["phase"] == "prefill":
        made["chunks"] = draw.randint(1, 4)
    if draw.chance(0.4):
        attention: dict = {"method": draw.choice(["unfused", "fused"])}
        if draw.chance(0.4):
            attention["skips_future"] = draw.chance(0.5)
        if draw.chance(0.4):
            attention["skips_outside_window"] = draw.chance(0.5)
        if attention["method"] == "unfused" and draw.chance(0.5):
            attention["score_bytes"] = draw.choice([2, 4, 0.5])
            attention["score_passes"] = draw.choice([2, 4, 5.5])
        made["attention"] = attention
    return made | models.expert_keys(draw, files, made["model"])


def switches(draw: Draw, made: dict) -> None:
    for key, entries, share in (("wire_buffers", ["vmem", "hbm"], 0.25), ("simulation", ["auto", "full", "symmetric"],
                                                                          0.2),
                                ("engine", ["auto", "simgrid", "direct"], 0.2)):
        if draw.chance(share):
            made[key] = draw.choice(entries)


def machine(draw: Draw, files: dict) -> dict:
    hardware = chips.chip(draw, files)
    return {"hardware": hardware, "topology": topologies.topology(draw, chips.name_of(hardware, files), files)}


def experiment(draw: Draw) -> dict:
    """A case of `run`: a configuration, and the files that it names."""
    files: dict = {}
    made = machine(draw, files)
    ranks = topologies.chips_of(made["topology"], files)
    kind = draw.choice(KINDS)
    if draw.chance(0.12):
        kind = "all-reduce"
        made["workload"] = workload(draw, files, ranks)
        if draw.chance(0.3):
            made["tensor"] = {"dtype": draw.choice(["bf16", "fp32"])}
        if draw.chance(0.7):
            made["numerics"] = "off"
    else:
        made["tensor"] = tensor(draw, ranks, files)
    if kind == "all-to-all" and draw.chance(0.4) and ranks <= 64:
        made["tensor"] = counts(draw, ranks, files)
    if kind != "all-reduce" or draw.chance(0.2):
        made["collective"] = kind
    made["collectives"] = collectives.collectives(draw, kind, made["topology"], ranks)
    labels = [one["label"] for one in made["collectives"] if "label" in one]
    if labels and draw.chance(0.3):
        made["baseline"] = draw.choice(labels)
    if draw.chance(0.15):
        made["faults"] = faults(draw, made["topology"], files)
    switches(draw, made)
    if "workload" in made and draw.chance(0.3):
        made["memory"] = draw.choice(["warn", "ignore"])
    if "workload" not in made and draw.chance(0.3):
        made["timed_as"] = draw.choice(["program", "step"])
    if draw.chance(0.3):
        made["numerics"] = draw.choice(["on", "off", True, False])
    if "tensor" in made and "files" not in made["tensor"].get("values", {}) and \
            "counts" not in made["tensor"] and draw.chance(0.1):
        made["tensor"] = {"bytes": size(draw, 1 << 20, LARGEST_TIMED, 4)}
        made["numerics"] = "off"
    if draw.chance(0.04):
        made["uncertainty"] = {"samples": draw.randint(10, 20)} | ({"seed": draw.randrange(9)} if draw.chance(0.5)
                                                                   else {})
    return {"config": made, "files": files}
