"""Descriptions of configurations."""
import json

COLLECTIVES = {"all-reduce": "AllReduce", "reduce-scatter": "ReduceScatter", "all-gather": "AllGather",
               "all-to-all": "AllToAll", "broadcast": "Broadcast"}


def collective_text(config: dict) -> str:
    """The collective and its tensor."""
    return f"{COLLECTIVES[config.get('collective', 'all-reduce')]} of {_tensor(config['tensor'])}"


def run_text(config: dict) -> str:
    """The collective, or the phase of a model if the configuration has a workload."""
    if "workload" not in config:
        return collective_text(config)
    workload = config["workload"]
    model, batch = workload["model"].rsplit("/", 1)[-1], workload["batch"]
    if workload["phase"] == "prefill":
        return f"Prefill of {model}, {workload['tokens']} tokens x {batch}"
    return f"Decoding of {model}, one token each of {batch} sequences of {workload['context']}"


def chip_text(hardware) -> str:
    """"hardware" of a configuration: 'tpu-v5e', or with changed parameters 'tpu-v5e (link_bandwidth 90 GB/s)'."""
    if not isinstance(hardware, dict):
        return hardware
    changes = ", ".join(f"{key} {change['value'] if isinstance(change, dict) else change}"
                        for key, change in hardware.items() if key != "based_on")
    return f"{hardware['based_on']} ({changes})" if changes else hardware["based_on"]


def machine_text(config: dict, chips: int) -> str:
    """Chips and how they are connected."""
    return f"{chips} x {chip_text(config['hardware'])}, {topology_text(config['topology'])}"


def _tensor(tensor: dict) -> str:
    if "shape" in tensor:
        return f"{tensor['dtype']}{tensor['shape']}"
    return f"{tensor['bytes']} of {tensor['dtype']}"


DISTRIBUTIONS = {"normal": "values from N(0, 1)", "uniform": "uniform values", "heavy-tailed": "heavy-tailed values"}


def values_text(tensor: dict) -> str:
    """Values of the tensor; empty if the configuration does not specify them."""
    values = tensor.get("values", {})
    files = values.get("files", [])
    if files:
        return f"values from {files[0].rsplit('/', 1)[-1] if len(files) == 1 else f'{len(files)} files'}"
    same = ", the same on all ranks" if values.get("ranks") == "identical" else ""
    return f"{DISTRIBUTIONS.get(values.get('distribution'), '')}{same}"


def topology_text(topology: dict) -> str:
    """Kind and size: 'slice 4x2', or '2 x slice 4x2' if a network joins several."""
    kind = next(kind for kind in ("slice", "mesh", "torus", "ring", "fully-connected", "switch", "file") if kind in topology)
    several = f"{topology['network']['slices']} x " if "network" in topology else ""
    return f"{several}{kind} {topology[kind]}"


def short(step: str) -> str:
    """A value of an axis without JSON syntax: '{"torus": "4x4"}' is 'torus 4x4'."""
    try:
        return _words(json.loads(step)) if step.startswith(("{", "[")) else step
    except ValueError:
        return step


def _words(value) -> str:
    if isinstance(value, dict):
        return " ".join(f"{key} {_words(inner)}" for key, inner in value.items())
    if isinstance(value, list):
        return " ".join(map(_words, value))
    return value.rsplit("/", 1)[-1] if isinstance(value, str) else json.dumps(value)
