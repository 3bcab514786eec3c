"""equarx.plan()."""
from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from . import _program
from ._arguments import options
from ._pictures import Picture, picture
from .result import Record, frame


class CapacityPlan(Record):
    """Result of plan(): all of ``plan --json`` (docs/serving.md) as attributes, times in s. ``ranked`` has the
    candidates that were simulated under loads, best first; ``obstacles`` why others are out."""

    @property
    def ranked(self) -> list[Record]:
        """Candidates that were simulated under loads, best first; the last of their ``points`` is the largest load."""
        return [Record(one) for one in self._data["ranked"]]

    @property
    def obstacles(self) -> list[Record]:
        """Machines and formats that are out, with their ``reason``."""
        return [Record(one) for one in self._data["obstacles"]]

    @property
    def best_config(self) -> dict:
        """Configuration of the best candidate, for serve(). @raises ValueError if nothing meets the limits."""
        if not self._data["ranked"]:
            raise ValueError("nothing meets the limits")
        return json.loads(json.dumps(self._data["ranked"][0]["config"]))

    def plot(self) -> Picture:
        """Tokens per chip against tokens per user."""
        return picture("plan", self._data)

    def to_frame(self):
        """The ranked candidates as a pandas.DataFrame, a row each, at their largest load."""
        rows = [{name: value for name, value in one.items() if name not in ("points", "config", "topology")}
                | one["points"][-1] for one in self._data["ranked"]]
        return frame(rows)

    def __repr__(self) -> str:
        request = self._data["request"]
        if not self._data["ranked"]:
            return f"CapacityPlan({request['model']}: nothing meets the limits)"
        best = self._data["ranked"][0]
        return (f"CapacityPlan({request['model']}: {best['chips']} x {best['chip']}, "
                f"{best['output_tokens_per_s_per_chip']:.4g} tokens/s per chip)")


def plan(model: str, *, isl: int = 1024, osl: int = 256, ttft: str = "1 s", tpot: str = "50 ms",
         percentile: float = 90, chips: Sequence[str] | None = None, sizes: Sequence[int] | None = None,
         precisions: Sequence[str] | None = None, kv: Sequence[str] | None = None,
         collectives: Sequence[str] | None = None, prices: Mapping[str, str] | None = None,
         requests_per_s: float | None = None) -> CapacityPlan:
    """Plans capacity: chips and formats that serve a load within limits of latency (docs/serving.md).

    model: a built-in model, or the path of a model file or of a config.json of Hugging Face.
    isl, osl: tokens of a prompt and of an output. ttft, tpot: limits with their unit.
    chips, sizes, precisions, kv, collectives: what to choose from; None: the program's defaults.
    prices: of chips, like ``{"tpu-v5e": "$1.2/h"}``. requests_per_s: of all replicas together.

    Runs ``equarx-sim plan``. Raises InputError for unknown names and quantities without their unit.
    """
    arguments = ["plan", "--json", *options({
        "--model": model, "--isl": isl, "--osl": osl, "--ttft": ttft, "--tpot": tpot, "--percentile": percentile,
        "--chips": chips, "--sizes": sizes, "--precisions": precisions, "--kv": kv, "--collectives": collectives,
        "--price": prices, "--requests-per-s": requests_per_s})]
    return CapacityPlan(json.loads(_program.command(arguments)))
