"""Machines with equal times, or with larger ones."""
import copy

from desk import Desk
from invariants.results import ROUNDING, TICK_S, expect
from make import chips, topologies

MOST_CHIPS = 24  # on SimGrid, which is slow where many messages share links
MOST_MESSAGES = 100000
ENGINES = 1e-6  # SimGrid's ticks may add up over the messages of a run
# Where messages share HBM with cores, a lead of one chip grows: lowering a rate by a part e has
# been observed to make a run longer by 600 e, up to 3e-5. So e is small.
HARDLY_SLOWER = 1.0 - 1e-12
# Where messages share links or HBM, or the tiling depends on the machine, a part that is slower in
# isolation may make the whole faster: fair shares are not a schedule.
SHARED = 0.05
# Tours of small tensors on several axes wait for each other, but not where they are longer
# (docs/model.md, C3d).
TOURS = 0.16
# Tilings are evaluated with the chip's own link, which is not representative of graphs with others
# (docs/model.md, C8).
UNTRIED = 1.0
# Among tilings within 0.1 % of the fastest, the one with fewer messages is taken.
CHOSEN = 0.003


def timed(config: dict, **keys) -> dict:
    """For all chips, by the direct engine, times only."""
    made = copy.deepcopy(config) | {"numerics": "off", "simulation": "full", "engine": "direct"} | keys
    made.pop("uncertainty", None)
    if "tensor" in made:
        made["tensor"].pop("sample", None)
    return made


def runs_of(desk: Desk, config: dict) -> list[dict] | None:
    found = desk.result(config, "--links")
    return None if found is None else found["runs"]


def engines(desk: Desk, content: dict, _draw) -> None:
    """The direct engine agrees with SimGrid, the reference."""
    if topologies.chips_of(content["config"]["topology"], content.get("files", {})) > MOST_CHIPS:
        return
    direct = runs_of(desk, timed(content["config"]))
    if any(run["messages"] > MOST_MESSAGES for run in direct or []):
        return
    simgrid = runs_of(desk, timed(content["config"], engine="simgrid"))
    expect((direct is None) == (simgrid is None), "engines", "only one engine refuses it")
    for one, other in zip(direct or [], simgrid or []):
        same(one, other, "engines", ENGINES)


def same(one: dict, other: dict, invariant: str, relative: float) -> None:
    label = one["label"]
    if one["algorithm"] != other["algorithm"]:  # auto took the other of two equal candidates
        return
    failures = [run.get("failure", {}) for run in (one, other)]
    expect(failures[0].get("link") == failures[1].get("link"), invariant, f"{label}: fails {failures}")
    if failures[0]:
        return
    expect(one["wire_bytes_per_link"] == other["wire_bytes_per_link"], invariant, f"{label}: bytes differ")
    slack = relative * one["time_s"] + TICK_S * (10 + one["messages"])
    expect(abs(one["time_s"] - other["time_s"]) <= slack, invariant,
           f"{label}: {one['time_s']} s and {other['time_s']} s")


def symmetric(desk: Desk, content: dict, _draw) -> None:
    """Representative chips have the timing of all chips."""
    few = runs_of(desk, timed(content["config"], simulation="symmetric"))
    every = runs_of(desk, timed(content["config"])) if few is not None else None
    expect(few is None or every is not None, "symmetric", "refused for all chips only")
    for one, other in zip(few or [], every or []):
        same(one, other, "symmetric", 1e-9)


def owns_links(desk: Desk, config: dict) -> bool:
    """True if every message has links of its own pair, so that times add up in one order only."""
    if config.get("wire_buffers") == "hbm" or config["topology"].keys() & {"network", "switch"}:
        return False
    shown = desk.of("show", config)
    if shown.refused or '"wire_buffers": "hbm"' in shown.out:
        return False
    if any(one["algorithm"] in ("torus", "auto") for one in config["collectives"]):
        return False
    return "fully-connected" in config["topology"] or all(one["algorithm"] in ("ring", "equarx")
                                                          for one in config["collectives"])


def slack_of(desk: Desk, config: dict) -> float:
    if not owns_links(desk, config):
        return SHARED
    if all({"minishards", "microshards"} <= one.keys() for one in config["collectives"]):
        return ROUNDING
    graph = desk.content.get("files", {}).get(config["topology"].get("file"), {})
    return UNTRIED if any({"bandwidth", "latency"} & link.keys() for link in graph.get("links", [])) else CHOSEN


def without_synchronisation(config: dict) -> dict | None:
    """The configuration without synchronisation, where messages pass over several links or share
    HBM.

    The synchronisation of a quantized step is simulated as bytes of the slowest link on its
    message's route, or of a slower HBM (docs/model.md, M2a and M4b). So if one of these gets
    slower, it takes less of the others, and transfers that share those may become faster: no
    invariant holds.
    """
    changed = chips.with_parameter(config["hardware"], "step_sync_time", 0.0)
    return None if changed is None else config | {"hardware": changed}


def no_faster(before: list[dict] | None, after: list[dict] | None, invariant: str, slack: float, what: str) -> None:
    for one, other in zip(before or [], after or []):
        if one["time_s"] is None or other["time_s"] is None:
            continue
        expect(other["time_s"] >= one["time_s"] * (1.0 - slack) - TICK_S, invariant,
               f"{one['label']}: {what}: {other['time_s']} s after {one['time_s']} s")


def slower_chip(desk: Desk, content: dict, draw) -> None:
    """Worsening a parameter never makes a collective faster."""
    config = timed(content["config"])
    parameter, way = draw.choice([("hop_latency", 1), ("collective_startup", 1), ("link_bandwidth", -1),
                                  ("program_startup", 1),
                                  ("vector_rate", -1),
                                  ("step_sync_time", 1), ("instruction_overhead", 1), ("dma_overhead", 1),
                                  ("wait_overhead", 1), ("barrier_time", 1), ("link_efficiency", -1),
                                  ("vmem_bandwidth", -1), ("hbm_bandwidth", -1), ("dma_queue", -1)])
    factor = draw.uniform(1.1, 4.0)**way
    if "workload" in config and parameter == "hbm_bandwidth":
        return
    slack = slack_of(desk, config)
    if slack == SHARED:
        config["wire_buffers"] = "hbm"  # where another chip may have other default buffers
        if parameter != "step_sync_time":
            config = without_synchronisation(config)
            if config is None:
                return
    changed = chips.with_parameter(config["hardware"], parameter, factor)
    if changed is None:
        return
    before = runs_of(desk, config)
    no_faster(before, runs_of(desk, config | {"hardware": changed}), "monotone", slack, f"worse {parameter}")


def larger_tensor(desk: Desk, content: dict, draw) -> None:
    config = timed(content["config"])
    tensor = config.get("tensor", {})
    if "workload" in config or not {"bytes", "shape"} & tensor.keys():
        return
    if any(one["algorithm"] == "auto" and {"minishards", "microshards"} & one.keys() for one in config["collectives"]):
        return  # a larger tensor can be partitioned for more algorithms
    before = runs_of(desk, config)
    factor = draw.choice([2, 3, draw.randint(2, 9)])
    larger = copy.deepcopy(config)
    if "shape" in tensor:
        larger["tensor"]["shape"][0] *= factor
    elif isinstance(tensor["bytes"], int):
        larger["tensor"]["bytes"] *= factor
    else:
        number, unit = tensor["bytes"].split(" ")
        larger["tensor"]["bytes"] = f"{int(number) * factor} {unit}"
    slack = slack_of(desk, config)
    if any(one["algorithm"] in ("torus", "auto") for one in config["collectives"]):
        slack = max(slack, TOURS)
    no_faster(before, runs_of(desk, larger), "larger tensor", slack, f"{factor} times the tensor")


def faults(desk: Desk, content: dict, draw) -> None:
    """A slower link takes more time, and a marginally slower one the time of the healthy machine."""
    config = timed(content["config"])
    config.pop("faults", None)
    pairs = topologies.joined(config["topology"], content.get("files", {}))
    if not pairs or "workload" in config:
        return
    pair = list(draw.choice(pairs))
    slack = slack_of(desk, config)
    if slack == SHARED:
        config = without_synchronisation(config)
        if config is None:
            return
    healthy = runs_of(desk, config)

    def with_factor(factor: float, of: dict = config) -> list[dict] | None:
        return runs_of(desk, of | {"faults": {"links": [{"between": pair, "bandwidth_factor": factor}]}})
    # Synchronisation is simulated as whole bytes of each link (sim::kHeldLinkRoundingBytes), which
    # is visible in short runs.
    unrounded = without_synchronisation(config)
    if unrounded is not None:
        for one, other in zip(runs_of(desk, unrounded) or [], with_factor(HARDLY_SLOWER, unrounded) or []):
            same(one, other, "faults meet healthy", 1e-6)
    slow, slower = with_factor(0.5), with_factor(0.2)
    no_faster(healthy, slow, "faults monotone", slack, f"half the rate between {pair}")
    no_faster(slow, slower, "faults monotone", slack, f"a fifth of the rate between {pair}")
    latency = {"links": [{"between": pair, "extra_latency": "3 us"}]}
    no_faster(healthy, runs_of(desk, config | {"faults": latency}), "faults monotone", slack, f"latency between {pair}")
    if healthy and "avoid" not in config["topology"]:
        name = draw.choice(pair)
        sleepy = {"chips": [{"chip": name, "slowdown": draw.uniform(1.1, 5.0)}]}
        no_faster(healthy, runs_of(desk, config | {"faults": sleepy}), "faults monotone", slack, f"slow chip {name}")
