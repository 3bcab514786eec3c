"""Total bytes on the links, by a formula."""
import copy
import math

from desk import Desk
from invariants.machines import timed
from invariants.results import expect
from make import topologies

ELEMENT = {"fp32": 4, "bf16": 2, "fp16": 2, "fp8-e4m3": 1, "fp8-e5m2": 1, "int8-cast": 1, "fp8-e4m3-cast": 1,
           "fp8-e5m2-cast": 1, "fp8-e4m3fnuz-cast": 1, "fp8-e5m2fnuz-cast": 1}

MOST_SEGMENTS = 2  # of a ring; padding at a tensor's end is less than segments x ranks elements


def tensors_sent(algorithm: str, collective: str, ring: str, n: int) -> float | None:
    """Link traversals of a whole tensor if every message crosses one link; None if unknown."""
    half = collective in ("reduce-scatter", "all-gather", "all-to-all", "broadcast")
    once = {"ring": n - 1, "two-shot": n - 1, "halving-doubling": n - 1, "direct": n - 1, "quickreduce": n - 1,
            "binomial-tree": n - 1, "server": n - 1}
    if algorithm in once:
        return once[algorithm] if half else 2 * once[algorithm]
    return {"one-shot": n * (n - 1), "neighbors": n * (n - 1), "recursive-doubling": n * math.log2(n)}.get(algorithm)


def conservation(desk: Desk, content: dict, _draw) -> None:
    """For plain collectives between neighbours: no byte is lost or sent twice."""
    topology = content["config"]["topology"]
    if "workload" in content["config"] or topology.keys() & {"network", "switch"} or "faults" in content["config"]:
        return
    n = topologies.chips_of(topology, content.get("files", {}))
    found = desk.result(timed(content["config"]), "--links")
    if found is None:
        return
    tensor = found["config"]["tensor"]
    elements = elements_of(tensor)
    for run, one in zip(found["runs"], found["config"]["collectives"]):
        direct = "fully-connected" in topology or one["algorithm"] == "ring"
        bytes_each = None if "scale" in one else ELEMENT.get(one.get("format", ""))
        sent = tensors_sent(run["algorithm"], found["config"]["collective"], one.get("ring", ""), n)
        if not direct or bytes_each is None or sent is None or elements is None:
            continue
        crossed = sum(link["bytes"] for link in run["links"])
        least, most = (sent * count * bytes_each for count in (elements, elements + MOST_SEGMENTS * n))
        expect(least <= crossed <= most, "conservation",
               f"{run['label']}: {crossed} B crossed links instead of {least} to {most}")


def elements_of(tensor: dict) -> int | None:
    if "shape" in tensor:
        return math.prod(tensor["shape"])
    size = copy.deepcopy(tensor.get("bytes"))
    if isinstance(size, str):
        number, unit = size.split(" ")
        scale = {"B": 1, "b": 1 / 8, "KiB": 1024, "MiB": 1 << 20}.get(unit)
        size = None if scale is None else float(number) * scale
    if size is None:
        return None
    return round(size / {"fp32": 4, "bf16": 2, "fp16": 2}.get(tensor["dtype"], 1))
