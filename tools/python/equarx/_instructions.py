"""equarx.Program: the list of instructions that every chip carries out, as rows."""
from __future__ import annotations

import json
from collections.abc import Iterator

from . import _core
from ._config import naming_file, overrides_of, text_of, to_json
from ._errors import InputError
from .result import frame


class Program:
    """A collective of a configuration as a list of instructions, written once for all ranks (docs/architecture.md).

    Iterating over it gives a dict for each instruction: ``instruction``, ``op``, ``phase``, ``text``; its tile
    (``segment``, ``shard_offset``, ``minishard``, ``microshard``; not of barriers); of a send or a wait ``message``,
    ``bytes``, ``channel`` and ``peer_offset``, the way to the rank that it is sent to.
    """

    def __init__(self, config, label: str | None = None, overrides=None):
        """Of the collective with this label; of the only one without it.

        Raises InputError, also for an algorithm that is "auto", and for machines that only SimGrid simulates.
        """
        text = text_of(config)
        with naming_file(config):
            # With every default filled in, and what it says that is wrong.
            planned = json.loads(_core.resolve(text, overrides_of(overrides)))
        self.label = _chosen(planned["collectives"], label)
        planned["collectives"] = [one for one in planned["collectives"] if one["label"] == self.label]
        if planned["collectives"][0]["algorithm"] == "auto":
            raise InputError("/collectives: a program is of one algorithm; name it in place of \"auto\"", "/collectives")
        planned.update(baseline=self.label, engine="direct", numerics="off")
        planned.pop("uncertainty", None)
        self._core = _core.Instructions(to_json(planned))
        self.ranks: int = self._core.ranks
        self._rows = None

    def to_rows(self) -> list[dict]:
        """The instructions, in order."""
        if self._rows is None:
            self._rows = json.loads(self._core.list())
        return list(self._rows)

    def timeline(self) -> list[dict]:
        """Who did what when, on the chips that were simulated (``"simulation": "full"`` for all): a dict for each
        piece of core time (``kind`` "core": ``rank``, ``chip``, ``op``, ``instruction``) and each transfer (``kind``
        "transfer": also ``to_rank``, ``to_chip``, ``message``, ``what``, ``bytes``), with ``start_s`` and ``end_s``."""
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
    if label is None and len(labels) == 1:
        return labels[0]
    if label not in labels:
        raise InputError(f"there is no collective {label!r}; there are {', '.join(labels)}" if label is not None else
                         f"there are {len(labels)} collectives; name one of {', '.join(labels)}")
    return label
