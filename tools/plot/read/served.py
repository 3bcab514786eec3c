"""Reads results of `equarx-sim serve CONFIG --json`."""
import dataclasses
import math
import pathlib

from read import file_kinds, json_file, trust
from read.errors import InputError
from words import names

LATENCIES = {"ttft": "time to first token", "tpot": "time per output token"}
PERCENTILES = {"p50_s": "50 %", "p99_s": "99 %"}


@dataclasses.dataclass(frozen=True)
class Served:
    """Latencies of a model under a load."""

    path: str
    subject: str
    """Model and machine."""
    load: float
    """Requests/s that arrive, or requests in flight."""
    is_concurrent: bool
    """True if `load` counts requests in flight."""
    capacity: float | None
    """Requests/s; None if it was not measured."""
    seconds: dict[str, dict[str, float]]
    """By latency and percentile."""
    requests: dict[str, list[float]] | None
    """Seconds of all requests, by latency; None without --requests."""
    spans: dict[str, list[tuple[float, float]]] | None
    """Times in s from the arrival to the first token (`waiting`) and to the last (`served`), likewise."""
    version: str
    trust: str
    """Note on the calibration of the chip (read.trust)."""


def read(path: pathlib.Path) -> Served:
    """The result in a file."""
    content = json_file.load(path, file_kinds.SERVED)
    try:
        served = _served(path, content)
    except (LookupError, TypeError, AttributeError) as problem:
        raise file_kinds.wrong_file(path, file_kinds.SERVED, problem) from None
    if not (math.isfinite(served.load) and served.load > 0):
        raise InputError(f"{path}: the load is {served.load}, but it must be above 0")
    return served


def _served(path: pathlib.Path, content: dict) -> Served:
    config = content["config"]
    load = config["serving"]["load"]
    is_concurrent = "concurrency" in load
    offered = load["concurrency"] if is_concurrent else content["offered_requests_per_s"]
    listed = content.get("requests_list")
    apart = "; prefill on chips of its own" if "prefill" in content else ""
    machine = names.machine_text(config, content["chips"])
    return Served(path=str(path), load=float(offered), is_concurrent=is_concurrent,
                  subject=f"{_last(config['serving']['model'])} on {machine}{apart}",
                  capacity=content.get("capacity_requests_per_s"),
                  seconds={latency: {key: content[latency][key] for key in PERCENTILES} for latency in LATENCIES},
                  requests=listed and {latency: [one[f"{latency}_s"] for one in listed] for latency in LATENCIES},
                  spans=listed and {"waiting": _spans(listed, "ttft_s"), "served": _spans(listed, "latency_s")},
                  version=content["version"], trust=trust.of_result(content))


def _spans(listed: list[dict], latency: str) -> list[tuple[float, float]]:
    return [(one["arrival_s"], one["arrival_s"] + one[latency]) for one in listed]


def _last(model: str) -> str:
    """Name of a model, without the folders of its file."""
    return model.rsplit("/", 1)[-1]
