"""Invariants of a step's result."""
import copy

from desk import Desk
from invariants.machines import ENGINES, SHARED
from invariants.results import ROUNDING, TICK_S, expect, near

MOST_MESSAGES = 50000  # of all chips, or of representative ones: SimGrid is slow
SAME_INSTANT = 0.1  # docs/model.md, the third limit of the engines' equality


def of_variant(variant: dict) -> None:
    label, seconds = variant["label"], variant["time_s"]
    expect(seconds >= variant["lower_bound_s"] * (1.0 - ROUNDING) - TICK_S, "lower bound",
           f"{label}: {seconds} s, below its bound of {variant['lower_bound_s']} s")
    expect(near(variant["compute_s"] + variant["exposed_s"], seconds, 1e-6, 1e-11), "step",
           f"{label}: compute and exposed do not add up to {seconds} s")
    expect(variant["core_busy_s"] <= seconds * (1.0 + 1e-6), "step",
           f"{label}: core {variant['core_busy_s']} of {seconds} s")
    ends = {task["name"]: task["end_s"] for task in variant["tasks"]}
    expect(all(0.0 <= task["start_s"] <= task["end_s"] <= seconds * (1.0 + 1e-6) for task in variant["tasks"]), "step",
           f"{label}: a task lies outside of the step")
    expect(near(max(ends.values()), seconds, 1e-6, 1e-11), "step",
           f"{label}: the last task ends at {max(ends.values())} of {seconds} s")
    expect(all(name in ends for name in variant["critical_path"]), "step",
           f"{label}: an unknown task on the critical path")
    for group in variant["groups"]:
        expect(group["exposed_s"] <= group["total_s"] * (1.0 + 1e-6) + 1e-12, "step", f"{label}: {group}")
    by_group: dict[str, float] = {}
    for task in variant["tasks"]:
        by_group[task["group"]] = by_group.get(task["group"], 0) + 1
    of_groups = {group["group"]: group["tasks"] for group in variant["groups"]}
    if "stage_idle" in variant:  # a group counts the tasks of one chip, and stages have tasks of their own
        expect(of_groups.keys() == by_group.keys() and all(tasks <= by_group[group] for group, tasks in of_groups.items()),
               "step", f"{label}: groups miss tasks")
    else:
        expect(of_groups == by_group, "step", f"{label}: groups miss tasks")


def has_roles(tasks: list) -> bool:
    """Chips run different tasks: times span several chips, each of which keeps the order."""
    return any(task.keys() & {"chips", "receive", "permute"} or "groups" in task.get("collective", {})
               for task in tasks)


def order(found: dict) -> None:
    """No custom task begins before its dependencies have ended, if all chips run all tasks."""
    tasks = found["config"]["step"].get("tasks", [])
    if has_roles(tasks):
        return
    for task in tasks:
        for variant in found["runs"]:
            times = {one["name"]: one for one in variant["tasks"]}
            for i in range(task.get("repeat", 1)):
                mine = times[task["name"].replace("{i}", str(i))]
                for name in task.get("after", []):
                    other = times[name.replace("{i}", str(i))]
                    expect(mine["start_s"] >= other["end_s"] - 1e-11 - 1e-9 * other["end_s"], "order",
                           f"{variant['label']}: '{mine['name']}' begins at {mine['start_s']} s, but "
                           f"'{other['name']}' ends at {other['end_s']} s")


def result(desk: Desk, content: dict, _draw) -> None:
    found = desk.result(content["config"])
    if found is None:
        return
    of_result(found)


def of_result(found: dict) -> None:
    """@raises Broken"""
    labels = [variant["label"] for variant in found["runs"]]
    base = found["runs"][labels.index(found["config"].get("baseline", labels[0]))]["time_s"]
    for variant in found["runs"]:
        of_variant(variant)
        expect(near(variant["speedup"], base / variant["time_s"]), "speedup",
               f"{variant['label']}: {variant['speedup']}")
    if "step" in found["config"]:
        order(found)


def compare(desk: Desk, content: dict, invariant: str, relative: float, one: dict, other: dict) -> None:
    before, after = (desk.result(copy.deepcopy(content["config"]) | keys) for keys in (one, other))
    for a, b in zip((before or {}).get("runs", []), (after or {}).get("runs", [])):
        slack = relative * a["time_s"] + 1e-12 * (10 + a["messages"])
        expect(abs(a["time_s"] - b["time_s"]) <= slack, invariant,
               f"{a['label']}: {a['time_s']} s with {one}, {b['time_s']} s with {other}")


def engines(desk: Desk, content: dict, _draw) -> None:
    """Agreement with SimGrid; the order of messages is unspecified if streams of a chip act at the
    same instant."""
    found = desk.result(content["config"])
    if found is None:
        return
    if any(variant["messages"] > MOST_MESSAGES for variant in found["runs"]):
        return
    streams = {task["stream"] for task in found["runs"][0]["tasks"]}
    compare(desk, content, "engines", ENGINES if len(streams) == 1 else SAME_INSTANT,
            {"engine": "direct", "simulation": "full"}, {"engine": "simgrid", "simulation": "full"})


def symmetric(desk: Desk, content: dict, _draw) -> None:
    compare(desk, content, "symmetric", 1e-9, {"engine": "direct", "simulation": "symmetric"},
            {"engine": "direct", "simulation": "full"})


def slower(desk: Desk, content: dict, draw) -> None:
    """A step with an additional task is hardly ever faster; it may be where tasks share links and
    cores."""
    tasks = content["config"]["step"].get("tasks")
    if not tasks:
        return
    config = copy.deepcopy(content["config"]) | {"engine": "direct"}
    task = draw.choice(tasks)
    longer = copy.deepcopy(config)
    changed = longer["step"]["tasks"][tasks.index(task)]
    if "compute" not in task:
        return
    changed["compute"] = {"time": "1 ms"}
    before, after = desk.result(config), desk.result(longer)
    for a, b in zip((before or {}).get("runs", []), (after or {}).get("runs", [])):
        if a["time_s"] < 1e-3:
            expect(b["time_s"] >= 1e-3 * (1.0 - ROUNDING) and b["time_s"] >= a["time_s"] * (1.0 - SHARED), "monotone",
                   f"{a['label']}: a task of 1 ms more: {b['time_s']} s after {a['time_s']} s")
