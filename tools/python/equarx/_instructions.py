"""equarx.Program: the instruction stream that every chip executes, as rows."""
from __future__ import annotations

import json
from collections.abc import Iterator

from . import _core
from ._config import naming_file, overrides_of, text_of, to_json
from ._errors import InputError
from ._schedule import cores_of, take_schedules
from .result import frame


class Program:
    """Instruction stream of the collective of a configuration, written once for all ranks
    (docs/architecture.md).

    Iterating over it gives a dict per instruction: ``instruction``, ``op``, ``phase``, ``text``;
    its tile (``segment``, ``shard_offset``, ``minishard``, ``microshard``; absent for barriers);
    for a send or a wait ``message``, ``bytes``, ``channel`` and ``peer_offset``, the offset of the
    receiving rank.
    """

    def __init__(self, config, label: str | None = None, overrides=None):
        """label selects a collective; not needed if there is only one.

        Raises InputError, also if the algorithm is "auto", and for machines that only SimGrid
        simulates.
        """
        named, schedules = take_schedules(config)
        text = text_of(named)
        with naming_file(config):
            # Fills in every default, and raises InputError if the configuration is invalid.
            planned = json.loads(_core.resolve(text, overrides_of(overrides), cores_of(schedules)))
        self.label = _chosen(planned["collectives"], label)
        planned["collectives"] = [one for one in planned["collectives"] if one["label"] == self.label]
        if planned["collectives"][0]["algorithm"] == "auto":
            raise InputError("/collectives: a program has one algorithm; name it instead of \"auto\"", "/collectives")
        planned.update(baseline=self.label, engine="direct", numerics="off")
        planned.pop("uncertainty", None)
        self._core = _core.Instructions(to_json(planned), cores_of(schedules))
        self.ranks: int = self._core.ranks
        self._rows: list[dict] | None = None

    def to_rows(self) -> list[dict]:
        """The instructions, in order."""
        if self._rows is None:
            self._rows = json.loads(self._core.list())
        return list(self._rows)

    def timeline(self) -> list[dict]:
        """Timeline of the simulated chips (``"simulation": "full"`` for all): a dict per interval
        of core time (``kind`` "core": ``rank``, ``chip``, ``op``, ``instruction``) and per transfer
        (``kind`` "transfer": also ``to_rank``, ``to_chip``, ``message``, ``what``, ``bytes``), with
        ``start_s`` and ``end_s``."""
        return json.loads(self._core.timeline())

    def to_frame(self):
        """The instructions as a pandas.DataFrame."""
        return frame(self.to_rows())

    def __iter__(self) -> Iterator[dict]:
        return iter(self.to_rows())

    def __len__(self) -> int:
        return len(self.to_rows())

    def __repr__(self) -> str:
        return f"Program({self.label}: {len(self)} instructions of each of {self.ranks} ranks)"


def _chosen(collectives: list[dict], label: str | None) -> str:
    labels = [collective["label"] for collective in collectives]
    if label is None:
        if len(labels) != 1:
            raise InputError(f"there are {len(labels)} collectives; name one of {', '.join(labels)}")
        return labels[0]
    if label not in labels:
        raise InputError(f"there is no collective {label!r}; there are {', '.join(labels)}")
    return label
