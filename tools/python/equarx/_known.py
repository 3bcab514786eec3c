"""Queries without a run: chips, topologies, formats."""
from __future__ import annotations

import html
import json
import os

from . import _core
from ._config import to_json
from .result import Record, frame


class Described(Record):
    """A JSON object with its table in the program's format."""

    def __init__(self, data: dict, table: str):
        super().__init__(data)
        self._table = table

    def __str__(self) -> str:
        return self._table

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self._table)}</pre>"


class Chips(list):
    """The built-in chips: a list of objects with ``name``, ``description`` and the values of the
    table."""

    def __init__(self, rows: list[dict], table: str):
        super().__init__(Record(row) for row in rows)
        self._table = table

    def to_frame(self):
        """A row per chip, as a pandas.DataFrame."""
        return frame([chip.to_dict() for chip in self])

    def __str__(self) -> str:
        return self._table


def hardware(chip: str | os.PathLike | None = None) -> Chips | Described:
    """The built-in chips; or one chip by name or by the path of its file, in the form of a hardware
    file (docs/hardware.md).

    Raises InputError for unknown chips.
    """
    if chip is None:
        text, table = _core.chips()
        return Chips(json.loads(text), table)
    text, table = _core.chip(os.fspath(chip))
    return Described(json.loads(text), table)


class Topology(Described):
    """Description of a topology, as in ``equarx-sim topology --json``, and a picture of it."""

    def __init__(self, data: dict, table: str, config: str):
        super().__init__(data, table)
        self._config = config

    def to_svg(self) -> str:
        """A picture with the ring highlighted, as SVG. @raises InputError if there are too many
        chips for it to be legible"""
        return _core.topology(self._config, True)[2]

    def _repr_svg_(self) -> str | None:
        try:
            return self.to_svg()
        except ValueError:
            return None


def topology(shape, hardware="tpu-v5e") -> Topology:
    """Describes a topology: size, distances, bisection, ring.

    shape: as "topology" of a configuration: ``{"slice": "4x4"}``, ``{"torus": "4x4x4"}``,
        ``{"ring": 8}``.
    Raises InputError if it is invalid, or not offered for this chip.
    """
    config = to_json({"hardware": hardware, "topology": shape})
    text, table, _ = _core.topology(config, False)
    return Topology(json.loads(text), table, config)


def format_name(name):
    """The name of a format in equarx, given its name in other tools, like "float8_e4m3fn";
    otherwise unchanged."""
    return _core.format_name(name) if isinstance(name, str) else name


def formats() -> list[dict]:
    """The named number formats: ``name``, ``element``, ``bits`` of an element, ``shared_scale``
    (True if all ranks' tensors share one scale), ``scaled``, and for scaled formats ``scale``,
    ``layout`` and ``block`` (docs/numerics.md)."""
    return json.loads(_core.formats())
