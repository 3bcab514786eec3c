"""What monitors of a training foretell: when each first said that something is wrong, and when the loss did."""
import math

# By name: what is taken of all places where a monitor looks. A monitor warns at FACTOR times the largest that any
# training has which is as it should be.
MONITORS = {"kurtosis": max, "rms": max, "saturated": lambda values: sum(values) / len(values),
            "flushed": lambda values: sum(values) / len(values)}
FACTOR = 2.0


def value_of(seen: dict[str, float], monitor: str) -> float:
    """Of one look, `seen` by "monitor place"; 0 where it did not look, infinite where it saw what is no number."""
    values = [value for name, value in seen.items() if name.split()[0] == monitor]
    if not all(map(math.isfinite, values)):
        return math.inf
    return MONITORS[monitor](values) if values else 0.0


def largest_by_place(monitor: str, results: list[dict]) -> dict[str, float]:
    """At the same place of all layers, in all looks."""
    largest: dict[str, float] = {}
    for seen in (seen for result in results for seen in result["seen"]):
        for name, value in seen.items():
            what, where = name.split()
            if what == monitor:
                place = where.split("/", 1)[1]
                largest[place] = max(value, largest.get(place, 0.0))
    return largest


def ceilings(healthy: list[dict]) -> dict[str, float]:
    """The largest of each monitor in trainings that are as they should be."""
    return {monitor: max(value_of(seen, monitor) for result in healthy for seen in result["seen"])
            for monitor in MONITORS}


def diverged_at(result: dict) -> int | None:
    """The first look from which on the loss stays above that before training, or the step without a finite one."""
    at = result["stopped_step"]
    for step, loss in zip(reversed(result["step"]), reversed(result["loss"])):
        if math.isfinite(loss) and loss <= result["loss"][0]:
            break
        at = step
    return at


def warned_at(result: dict, known: dict[str, float]) -> dict[str, int | None]:
    """The first look at which each monitor is beyond what is known of trainings as they should be."""
    first = dict.fromkeys(MONITORS)
    for step, seen in zip(result["step"], result["seen"]):
        for monitor in MONITORS:
            if first[monitor] is None and not value_of(seen, monitor) <= FACTOR * known[monitor]:
                first[monitor] = step
    return first


def false_alarms(healthy: list[dict]) -> dict[str, int]:
    """Of trainings as they should be: how many would have been warned of, by what is known of the others."""
    counts = dict.fromkeys(MONITORS, 0)
    for result in healthy:
        others = [other for other in healthy if other is not result]
        if others:
            for monitor, step in warned_at(result, ceilings(others)).items():
                counts[monitor] += step is not None
    return counts
