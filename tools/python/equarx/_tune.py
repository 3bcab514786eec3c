"""equarx.tune()."""
from __future__ import annotations

import json

from ._arguments import answer, configuration, options, with_unit
from ._pictures import Picture, picture
from .result import Record, flat, frame


class _Best(Record):
    """Base of tuning results: the best one as a configuration."""

    @property
    def best_config(self) -> dict:
        """The best together with the baseline, as a configuration: for run() or, for a step,
        ``equarx-sim run``."""
        return json.loads(json.dumps(self._data["best_config"]))


class Tuned(_Best):
    """Result of tuning: all of ``tune --json`` (docs/results.md), with ``front`` and ``best`` as
    objects."""

    @property
    def front(self) -> list[Record]:
        """The latency-error Pareto front, fastest first."""
        return [Record(candidate) for candidate in self._data["front"]]

    @property
    def best(self) -> Record:
        """The best of the front within the limits."""
        return Record(self._data["front"][self._data["best"]])

    def plot(self) -> Picture:
        """Time against error of the candidates, with the front."""
        return picture("pareto", self._data)

    def to_frame(self):
        """The front as a pandas.DataFrame."""
        return frame([flat(candidate) for candidate in self._data["front"]])

    def __repr__(self) -> str:
        return f"Tuned({len(self._data['front'])} on the front; best: {self.best.label})"


class TunedStep(_Best):
    """Result of tuning a step: all of its ``tune --json`` (docs/results.md), with ``groups`` and
    ``variants`` as objects."""

    @property
    def groups(self) -> list[Record]:
        """Its collectives, by group of tasks and kind."""
        return [Record(group) for group in self._data["groups"]]

    @property
    def variants(self) -> list[Record]:
        """The baseline, then one group after the other in the order of choice; the last has all."""
        return [Record(variant) for variant in self._data["variants"]]

    def to_frame(self):
        """The variants as a pandas.DataFrame."""
        return frame([flat(variant) for variant in self._data["variants"]])

    def __repr__(self) -> str:
        best = self.variants[-1]
        return f"TunedStep({len(self._data['groups'])} groups of collectives; best: {best.label}, {best.speedup:.3f}x)"


def tune(config, overrides=None, *, min_sqnr=None, max_nmse: float | None = None, max_time=None,
         formats: list[str] | None = None, budget=None, exhaustive: bool = False) -> Tuned | TunedStep:
    """Finds the best algorithms, formats and tilings for a configuration: time against error
    (docs/tuning.md); for a step, the collectives to quantize, and their formats.

    min_sqnr: smallest SQNR allowed, in dB or as "30 dB"; max_nmse: the same as a ratio.
    max_time: longest time allowed, in seconds or as "300 us". budget: seconds, or "2 min", to
        evaluate expensive candidates. formats: candidates' formats. exhaustive: simulate every
        candidate.

    Runs ``equarx-sim tune``. Raises InputError if the configuration or the limits are invalid.
    """
    named, text = configuration(config, overrides)
    arguments = ["tune", *named, "--json"] + options({
        "--min-sqnr": with_unit(min_sqnr, "dB"), "--max-nmse": max_nmse, "--max-time": with_unit(max_time, "s"),
        "--budget": with_unit(budget, "s"), "--formats": formats, "--exhaustive": exhaustive})
    found = json.loads(answer(arguments, config, text))
    return TunedStep(found) if "groups" in found else Tuned(found)
