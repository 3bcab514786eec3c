"""Steps: custom tasks, small models in training, and phases of serving, over meshes of a few chips."""
import math

from draw import Draw, size, time
from make import chips, collectives, experiments, models, topologies

MACHINES = [{"slice": "2x2"}, {"slice": "4x2"}, {"slice": "4x4"}, {"torus": "4x2"}, {"torus": "4x4"},
            {"torus": "2x3x2"},
            {"mesh": "2x3"}, {"ring": 4}, {"ring": 8}, {"fully-connected": 4}, {"fully-connected": 8},
            {"switch": 4}, {"switch": 8},
            {"torus": "4x2", "wraparound": [True, False]}]
MATRICES = ["bf16", "fp32", "int8", "fp8", "fp4"]
KEPT = ["recompute", "keep", "offload"]
RECIPES = ["bf16", "bf16", "transformer-engine", "fp8-lm", "fog", "deepseek-v3", "aqt-int8", "switchback"]


def lengths_of(machine: dict) -> list[int]:
    kind = topologies.kind_of(machine)
    value = machine[kind]
    axes = [value] if isinstance(value, int) else [int(length) for length in value.split("x")]
    network = machine.get("network")
    return [network["slices"], *axes] if network else axes


def mesh(draw: Draw, machine: dict, names: list[str]) -> dict:
    """Names for whole axes of the machine, one or two of them; for fully connected chips, for a
    division."""
    axes = lengths_of(machine)
    if machine.keys() & {"fully-connected", "switch"} and draw.chance(0.5):
        return {names[0]: 2, names[1]: axes[-1] // 2}
    if draw.chance(0.2):
        return divided_mesh(draw, math.prod(axes), names)
    if len(axes) == 1 or draw.chance(0.4):
        return {names[0]: math.prod(axes)}
    cut = draw.randint(1, len(axes) - 1)
    parts = [list(range(cut)), list(range(cut, len(axes)))]
    made: dict = {}
    for name, part in zip(draw.sample(names, 2), parts):
        length = math.prod(axes[axis] for axis in part)
        made[name] = {"length": length, "axes": part} if draw.chance(0.3) else length
    return made


def divided_mesh(draw: Draw, chips: int, names: list[str]) -> dict:
    """Two axes of any lengths, perhaps with an order of the chips."""
    first = draw.choice([length for length in range(1, chips + 1) if chips % length == 0])
    made: dict = {names[0]: first, names[1]: chips // first}
    if "order" not in names and draw.chance(0.5):
        made["order"] = draw.choice(["jax", "machine", draw.sample(range(chips), chips)])
    return made


def length_of(entry: object) -> int:
    return entry["length"] if isinstance(entry, dict) else entry


def operation(draw: Draw) -> dict:
    if draw.chance(0.3):
        return {"time": time(draw, 1e-7, 1e-4)}
    made: dict = {"flops": draw.log(1e6, 1e10)}
    if draw.chance(0.3):
        made["products"] = draw.choice(MATRICES)
    if draw.chance(0.2):
        made["recomputed"] = draw.chance(0.5)
    if draw.chance(0.4):
        made["vector_ops"] = draw.log(1e4, 1e8)
    if draw.chance(0.4):
        made["hbm_bytes"] = size(draw, 1000, 10**8)
    if draw.chance(0.1):
        made["comparisons"] = draw.log(1e4, 1e8)
    if draw.chance(0.2):
        made["kernel"] = draw.choice(["usual", "convolution", "attention", "attention-backward", "amax"])
        if draw.chance(0.5):
            made["attention_rows"] = draw.log(1.0, 1e4)
    if draw.chance(0.3):
        made["times"] = draw.randint(1, 5)
    return made


def divided(draw: Draw, chips: int) -> list[list[int]]:
    """All chips in groups of one size, in any order."""
    each = draw.choice([one for one in range(1, chips + 1) if chips % one == 0])
    order = draw.sample(range(chips), chips) if draw.chance(0.7) else list(range(chips))
    return [order[first:first + each] for first in range(0, chips, each)]


def pairs(draw: Draw, chips: int) -> list[list[int]]:
    """Pairs of sender and receiver: mostly without duplicates and without sends to oneself."""
    senders = draw.sample(range(chips), draw.randint(1, chips))
    shift = draw.randint(1, chips - 1) if chips > 1 else 0
    return [[chip, (chip + shift) % chips] for chip in senders]


def listed(draw: Draw, made: list, names: dict) -> object:
    """The lists, or a name under which they are defined next to the tasks."""
    if draw.chance(0.7):
        return made
    name = f"lists {len(names)}"
    names[name] = made
    return name


def when(draw: Draw) -> object:
    """Steps and chips of a collective; some do not suit it."""
    if draw.chance(0.2):
        return "always"
    made: dict = {}
    if draw.chance(0.6):
        made["every"] = draw.choice([1, 2, 3, 4, 10, 500])
    if not made or draw.chance(0.4):
        made["uploads"] = draw.choice([0.3, 0.5, 1, [2, 1, 1, 0]])
    return made


def what_to_do(draw: Draw, axes: list[str], computations: dict, chips: int, lists: dict) -> dict:
    way = draw.random()
    if way < 0.35:
        return {"compute": draw.choice([operation(draw), [operation(draw), operation(draw)], *computations])}
    if way < 0.45:
        return {"permute": {"pairs": listed(draw, pairs(draw, chips), lists), "bytes": size(draw, 512, 1 << 17, 4)}}
    if way < 0.87:
        call = {"kind": draw.choice(["all-reduce", "all-reduce", "reduce-scatter", "all-gather", "all-to-all",
                                     "broadcast"]),
                "bytes": size(draw, 512, 1 << 17, 4)}
        if draw.chance(0.2):
            call["groups"] = listed(draw, divided(draw, chips), lists)
        else:
            call["axes"] = draw.sample(axes, draw.randint(1, len(axes)))
        if draw.chance(0.3):
            call["dtype"] = draw.choice(["fp32", "bf16", "fp16", "fp8-e4m3", "fp8-e5m2"])
        return {"collective": call}
    return {"host": {"direction": draw.choice(["to-host", "from-host"]), "bytes": size(draw, 512, 1 << 20)}}


def tasks(draw: Draw, axes: list[str], chips: int) -> dict:
    made: dict = {"tasks": []}
    names: list[str] = []
    computations = {f"work {i}": draw.choice([operation(draw), [operation(draw)]])
                    for i in range(draw.choice([0, 0, 1, 2]))}
    if computations:
        made["computations"] = computations
    lists: dict = {}
    for i in range(draw.randint(1, 6)):
        task: dict = {"name": f"task{'abcdef'[i]}"} | what_to_do(draw, axes, list(computations), chips, lists)
        if draw.chance(0.25):
            task["repeat"] = draw.randint(1, 4)
            task["name"] += " {i}"
        if names and draw.chance(0.6):
            task["after"] = draw.sample(names, draw.randint(1, min(2, len(names))))
        if draw.chance(0.2):
            task["group"] = draw.choice(["first", "second"])
        if draw.chance(0.15) and "host" not in task:
            task["stream"] = "compute beside" if "compute" in task else draw.choice(["one", "two"])
        if draw.chance(0.1) and task.keys() & {"compute", "host"}:
            task["chips"] = draw.sample(range(chips), draw.randint(1, chips))
        made["tasks"].append(task)
        names.append(task["name"].replace("{i}", "0"))
        if draw.chance(0.3) and "permute" in task and "repeat" not in task:
            task["permute"]["wait"] = False
            made["tasks"].append({"name": task["name"] + " arrives", "receive": task["name"]})
    if lists:
        made["groups"] = lists
    return made


def product(draw: Draw) -> object:
    if draw.chance(0.4):
        return draw.choice(MATRICES)
    made: dict = {"forward": draw.choice(MATRICES)}
    for key in ("input_gradient", "weight_gradient"):
        if draw.chance(0.4):
            made[key] = draw.choice(MATRICES)
    if draw.chance(0.4):
        made["scaling"] = draw.choice(["delayed", "current", "rows", "blocks", "mx", "nv"])
    return made


def precision(draw: Draw) -> object:
    if draw.chance(0.5):
        return draw.choice(RECIPES)
    made: dict = {"recipe": draw.choice(RECIPES)} if draw.chance(0.6) else {}
    for key in draw.sample(["projections", "attention", "ffn", "head"], draw.randint(1, 2)):
        made[key] = product(draw)
    return made


def pipeline(draw: Draw) -> dict:
    made: dict = {"schedule": draw.choice(["1f1b", "gpipe", "interleaved", "zero-bubble", "dualpipe"])}
    if draw.chance(0.3):
        made["chunks"] = draw.choice([1, 2])
    if draw.chance(0.1):
        made["layers"] = [1, 1]
    if draw.chance(0.3):
        made["activation_dtype"] = draw.choice(["bf16", "fp8-e4m3", "fp16"])
    return made


def training(draw: Draw, axes: dict, files: dict) -> dict:
    tensor = length_of(axes.get("tensor", 1))
    data = math.prod(length_of(axes.get(name, 1)) for name in ("data", "fsdp", "expert"))
    microbatches = draw.choice([1, 1, 2, 3])
    if "pipeline" in axes:
        microbatches = draw.choice([1, 2, 4, 8])
    made: dict = {"model": models.model(draw, files, tensor, 0.9 if "expert" in axes else 0.4),
                  "sequence": draw.choice([tensor * 8, 64]),
                  "batch": data * microbatches * draw.randint(1, 2)}
    made.update(models.expert_keys(draw, files, made["model"]))
    if microbatches > 1:
        made["microbatches"] = microbatches
    if draw.chance(0.5):
        made["remat"] = draw.choice(["none", "minimal", "full", {"layer_input": draw.choice(["keep", "offload"])} | {
            key: draw.choice(KEPT) for key in draw.sample(["qkv", "attention", "attention_output", "ffn_in"], 3)}])
    if draw.chance(0.3):
        made["attention"] = {"skips_future": draw.chance(0.5), "block": draw.choice([1, 8]),
                             "skips_outside_window": draw.chance(0.5)}
    if draw.chance(0.4):
        made["precision"] = precision(draw)
    switches = {"sequence_parallel": "tensor" in axes and draw.chance(0.5), "prefetch": draw.randint(0, 3),
                "buckets": draw.randint(1, 5), "distributed_optimizer": bool({"data", "expert"} & set(axes)) and draw.chance(0.5),
                "gradient_dtype": draw.choice(["fp32", "bf16", "fp16", "fp8-e4m3", "fp8-e5m2"]),
                "fused_accumulation": draw.chance(0.5), "transposed_casts": draw.chance(0.3),
                "logit_tiles": draw.choice([1, 4]), "weight_bytes": draw.choice([2, 4, 0.5]), "moment_bytes": draw.choice([2, 8]),
                "outer_bytes": draw.choice([4, 8]),
                "gradient_bytes": draw.choice([2, 4]),
                "prediction_depth": draw.randint(0, files.get("model.json", {}).get("prediction_layers", 0)),
                "context": draw.choice(["ring", "all-gather", "all-to-all"]),
                "positions": draw.choice(["zigzag", "contiguous"])}
    if "pipeline" in axes and draw.chance(0.8):
        made["pipeline"] = pipeline(draw)
    for key in draw.sample(sorted(switches), draw.randint(0, 4)):
        made[key] = switches[key]
    if made.get("distributed_optimizer") and made.get("pipeline", {}).get("schedule") != "dualpipe":
        made["sharded_gradients"] = draw.chance(0.5)
    return made


def rule(draw: Draw, axes: list[str], machine: dict) -> dict:
    made: dict = {"format": draw.choice(collectives.SCALED[:10])} if draw.chance(0.9) else {"algorithm": "auto"}
    if draw.chance(0.6):
        where = {"collective": draw.choice(["all-reduce", "reduce-scatter", "all-gather"])}
        if draw.chance(0.4):
            where["axis"] = draw.choice(axes)
        if draw.chance(0.1):
            where["group"] = "first"
        made["where"] = where
    if draw.chance(0.15):
        made["algorithm"] = draw.choice(["two-shot", "torus", "auto", "equarx"])
    if "network" in machine and draw.chance(0.3):
        made["between"] = {"format": draw.choice(["int8", "int4"])}
    if draw.chance(0.2):
        made["when"] = when(draw)
    return made


def value_rule(draw: Draw, axes: list[str], files: dict) -> dict:
    made = experiments.values(draw, 4, files, {})
    if draw.chance(0.3):
        made["where"] = {"axis": draw.choice(axes)}
    if draw.chance(0.5):
        made["sample"] = draw.choice([1, 0.5, 1e-6])
    return made


def step(draw: Draw) -> dict:
    files: dict = {}
    hardware = draw.choice(["tpu-v5e", "tpu-v5e", "tpu-v6e", "h100",
                            "mi300x"]) if draw.chance(0.8) else chips.chip(draw, files)
    machine = dict(draw.choice(MACHINES))
    if "slice" in machine and chips.name_of(hardware, files) not in ("tpu-v5e", "tpu-v6e"):
        machine = {"torus": machine["slice"]}
    if draw.chance(0.15):
        machine["network"] = {"slices": 2, "bandwidth": "10 GB/s", "latency": time(draw, 1e-6, 1e-5)}
    way = draw.random()
    names = draw.choice([["x", "y"], ["x", "order"]]) if way < 0.5 else draw.sample(
        ["data", "fsdp", "tensor", "pipeline", "context", "expert"], 2) if way < 0.8 else [
            "tensor", draw.choice(["data", "expert"])]
    axes = mesh(draw, machine, names)
    axis_names = sorted(name for name, entry in axes.items() if not isinstance(entry, (str, list)))
    if way < 0.5:
        what = tasks(draw, axis_names, math.prod(lengths_of(machine)))
    elif way < 0.8:
        what = {"training": training(draw, axes, files)}
    else:
        what = {"workload": experiments.workload(draw, files, length_of(axes.get("tensor", 1)))}
    made = {"hardware": hardware, "topology": machine, "mesh": axes, "step": what}
    if draw.chance(0.7):
        made["variants"] = [{"label": f"way {i}"} | ({"quantize": [rule(draw, axis_names, machine)
                                                                   for _ in range(draw.randint(0, 2))]}
                                                     if i > 0 else {}) for i in range(draw.randint(1, 3))]
        if draw.chance(0.3):
            made["baseline"] = "way 0"
    if draw.chance(0.15):
        made["faults"] = experiments.faults(draw, machine, files)
        for link in made["faults"].get("links", []):
            link.pop("fails_at", None)
            link.setdefault("bandwidth_factor", 0.5)
    experiments.switches(draw, made)
    if draw.chance(0.2):
        made["memory"] = draw.choice(["warn", "ignore"])
    if draw.chance(0.2):
        made["values"] = [value_rule(draw, axis_names, files) for _ in range(draw.randint(1, 2))]
    if draw.chance(0.05):
        made["uncertainty"] = {"samples": 10}
    return {"config": made, "files": files}
