"""equarx.advise()."""
from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence

from ._arguments import answer, configuration, options, settings, with_unit
from ._pictures import Picture, picture
from .result import Record


class Advice(Record):
    """Result of advise(): all of ``advise --json`` (docs/results.md), times in s. Steps have ``runs`` and
    ``advice``."""

    @property
    def verdict(self) -> str | None:
        """"yes", "no" or "unclear"; None for tables of slices, chips or gates."""
        return self._data.get("advice", self._data).get("quantize")

    def plot(self) -> Picture:
        """The verdict, and speedups with their intervals by size or by group of a step."""
        return picture("advice", self._data)

    def __repr__(self) -> str:
        return f"Advice({self.verdict or ', '.join(self._data)})"


def advise(config: Mapping | str | os.PathLike, overrides: Mapping | None = None, *, min_sqnr=None,
           max_nmse: float | None = None, max_time=None, contract: Sequence[str] | None = None,
           formats: Sequence[str] | None = None, price: str | None = None, budget=None,
           slices: Sequence[str] | None = None, chips: Sequence[str] | None = None, gates: bool = False,
           ranks: Sequence[int] | None = None, hardware: str | None = None, topology: str | None = None,
           mesh: str | None = None, device_order: str | None = None, trip_count: str | None = None,
           report: str | os.PathLike | None = None) -> Advice:
    """Whether and how to quantize a collective, a workload, a step or an XLA program: verdict, speedup with
    its interval, error, break-even sizes and sensitivities (docs/tuning.md).

    config: a dict, the path of a JSON file, or of an HLO text, which needs ``topology``.
    min_sqnr: smallest SQNR allowed, in dB or as "30 dB"; max_nmse: the same as a ratio. max_time: in s or as
        "300 us". contract: promises to keep (docs/contract.md). formats: to choose from.
    slices, chips: one row for each, in ``rows``. gates, ranks: the size from which each codec is faster.
    hardware, topology, mesh, device_order, trip_count: of an HLO program, like "4x4" and "data=4,model=4".
    report: also write a page to this file. budget: seconds, or "2 min".

    Runs ``equarx-sim advise``. Raises InputError if the configuration, a limit or an option is invalid.
    """
    if isinstance(config, (str, os.PathLike)) and not os.fspath(config).endswith((".json", ".jsonc")):
        named, text = [os.fspath(config), *settings(overrides)], ""  # a program
    else:
        named, text = configuration(config, overrides)
    arguments = ["advise", *named, "--json"] + options({
        "--min-sqnr": with_unit(min_sqnr, "dB"), "--max-nmse": max_nmse, "--max-time": with_unit(max_time, "s"),
        "--contract": contract, "--formats": formats, "--price": price, "--budget": with_unit(budget, "s"),
        "--slices": slices, "--chips": chips, "--gates": gates, "--ranks": ranks, "--hardware": hardware,
        "--topology": topology, "--mesh": mesh, "--device-order": device_order, "--trip-count": trip_count,
        "--report": report})
    return Advice(json.loads(answer(arguments, config, text)))
