"""Invariants of a single result."""
import math

from desk import Desk
from program import Broken

ROUNDING = 1e-9
TINY_S = 1e-15
TICK_S = 1e-12  # of SimGrid's clock: sums may be off by several


def near(a: float, b: float, relative: float = ROUNDING, absolute: float = TINY_S) -> bool:
    return abs(a - b) <= relative * max(abs(a), abs(b)) + absolute


def expect(holds: bool, invariant: str, text: str) -> None:
    if not holds:
        raise Broken(invariant, text)


def times(run: dict) -> None:
    label, seconds, bound = run["label"], run["time_s"], run["lower_bound_s"]
    expect(seconds > 0.0 and bound >= 0.0, "time", f"{label}: time {seconds}, lower bound {bound}")
    expect(seconds >= bound * (1.0 - ROUNDING), "lower bound", f"{label}: {seconds} s, below its bound of {bound} s")
    until = seconds * (1.0 + ROUNDING) + TICK_S * (10 + run["messages"])
    expect(run["core_busy_s"] <= until, "core", f"{label}: busy for {run['core_busy_s']} of {seconds} s")
    parts = run["breakdown"]
    expect(near(sum(parts.values()), seconds), "breakdown", f"{label}: {parts} do not add up to {seconds}")
    expect(all(part >= -ROUNDING * seconds for part in parts.values()), "breakdown",
           f"{label}: a part is negative: {parts}")
    waits = run["core"]
    expect(all(part >= -ROUNDING * seconds for part in waits.values()), "core", f"{label}: a part is negative: {waits}")
    # Concurrent streams of a core wait at the same time.
    if "compute_s" not in run and run.get("algorithm") not in ("node-ring", "tree"):
        expect(sum(waits.values()) <= until, "core", f"{label}: {waits} are more than {seconds} s")
    interval = run.get("uncertainty")
    if interval:
        expect(0.0 < interval["time_low_s"] <= interval["time_high_s"], "uncertainty", f"{label}: {interval}")


def links(run: dict) -> None:
    found = run.get("links", [])
    for link in found:
        expect(0 <= link["busy_s"] and link["utilisation"] <= 1.0 + 1e-6, "links", f"{run['label']}: {link}")
    # The link with the most bytes may not be the slowest one, but no link carries more.
    if found and "compute_s" not in run:
        most = max(link["bytes"] for link in found)
        expect(most == run["wire_bytes_per_link"], "links", f"{run['label']}: {most} B on a link, and "
               f"wire_bytes_per_link {run['wire_bytes_per_link']}")


def errors(run: dict) -> None:
    found = run["numerics"]
    if found is None:
        return
    label = run["label"]
    if "owner keeps its sum" not in label:
        expect(found["ranks_identical"], "ranks identical", f"{label}: they are not")
    expect(0.0 < found["sampled_fraction"] <= 1.0, "errors", f"{label}: {found}")
    for share in ("clipped_fraction", "flushed_fraction"):
        expect(0.0 <= found[share] <= 1.0, "errors", f"{label}: {share} {found[share]}")
    mse, nmse, most = found["mse"], found["nmse"], found["max_abs_error"]
    if mse is not None and most is not None:
        expect(0.0 <= mse <= most * most * (1.0 + 1e-6), "errors", f"{label}: mse {mse}, largest error {most}")
        expect(most * most <= mse * found["elements"] * (1.0 + 1e-6), "errors", f"{label}: mse {mse} of "
               f"{found['elements']} elements, largest error {most}")
    if nmse and found["sqnr_db"] is not None:
        expect(near(found["sqnr_db"], -10.0 * math.log10(nmse), absolute=1e-9), "errors",
               f"{label}: nmse {nmse}, sqnr {found['sqnr_db']}")


def of_result(result: dict) -> None:
    """@raises Broken"""
    if "groups" in result["runs"][0]:
        from invariants import steps  # which imports this module
        steps.of_result(result)
        return
    by_label = {run["label"]: run for run in result["runs"]}
    expect(len(by_label) == len(result["config"]["collectives"]), "runs", f"{list(by_label)} are not the collectives")
    baseline = by_label[result["baseline"]]
    for run in result["runs"]:
        errors(run)
        expect((run["time_s"] is None) == ("failure" in run), "failure", f"{run['label']}: {run.get('failure')}")
        if run["time_s"] is None or baseline["time_s"] is None:
            expect(run["speedup"] is None, "speedup", f"{run['label']}: {run['speedup']}, but a link failed")
        else:
            expect(near(run["speedup"], baseline["time_s"] / run["time_s"]), "speedup",
                   f"{run['label']}: {run['speedup']}")
        if run["time_s"] is not None:
            times(run)
            links(run)
    if baseline["numerics"] is not None and baseline["numerics"]["mse_vs_baseline"] is not None:
        expect(baseline["numerics"]["mse_vs_baseline"] == 0.0, "errors", "the baseline differs from itself")


def result(desk: Desk, content: dict, _draw) -> None:
    found = desk.result(content["config"], "--links")
    if found is not None:
        of_result(found)
