"""Early warning by the monitors of a training: the step at which each first warned, and the step of
divergence."""
import math

# By name: the aggregation over all places of a monitor. A monitor warns at FACTOR times its largest
# value in any healthy training.
MONITORS = {"kurtosis": max, "rms": max, "saturated": lambda values: sum(values) / len(values),
            "flushed": lambda values: sum(values) / len(values), "logits": max}
FACTOR = 2.0


def value_of(seen: dict[str, float], monitor: str) -> float:
    """Value at one evaluation, `seen` by "monitor place"; 0 if not recorded, infinite if
    non-finite."""
    values = [value for name, value in seen.items() if name.split()[0] == monitor]
    if not all(map(math.isfinite, values)):
        return math.inf
    return MONITORS[monitor](values) if values else 0.0


def largest_by_place(monitor: str, results: list[dict]) -> dict[str, float]:
    """The largest value by place, over all layers and evaluations."""
    largest: dict[str, float] = {}
    for seen in (seen for result in results for seen in result["seen"]):
        for name, value in seen.items():
            what, where = name.split()
            if what == monitor:
                place = where.split("/", 1)[1]
                largest[place] = max(value, largest.get(place, 0.0))
    return largest


def ceilings(healthy: list[dict]) -> dict[str, float]:
    """The largest value of each monitor in healthy trainings."""
    return {monitor: max(value_of(seen, monitor) for result in healthy for seen in result["seen"])
            for monitor in MONITORS}


def diverged_at(result: dict) -> int | None:
    """The first evaluation from which on the loss stays above the initial one, or the step without
    a finite one."""
    at = result["stopped_step"]
    for step, loss in zip(reversed(result["step"]), reversed(result["loss"])):
        if math.isfinite(loss) and loss <= result["loss"][0]:
            break
        at = step
    return at


def warned_at(result: dict, known: dict[str, float]) -> dict[str, int | None]:
    """The first evaluation at which each monitor exceeds its limit from healthy trainings."""
    first = dict.fromkeys(MONITORS)
    for step, seen in zip(result["step"], result["seen"]):
        for monitor in MONITORS:
            if first[monitor] is None and not value_of(seen, monitor) <= FACTOR * known[monitor]:
                first[monitor] = step
    return first


def false_alarms(healthy: list[dict]) -> dict[str, int]:
    """False alarms in healthy trainings: how many would have been warned of, by the limits from the
    others."""
    counts = dict.fromkeys(MONITORS, 0)
    for result in healthy:
        others = [other for other in healthy if other is not result]
        if others:
            for monitor, step in warned_at(result, ceilings(others)).items():
                counts[monitor] += step is not None
    return counts
