"""What is known without a run: chips, topologies, formats."""
from __future__ import annotations

import html
import json
import os

from . import _core
from ._config import to_json
from .result import Record, frame


class Described(Record):
    """A JSON object with the table that the program prints of it."""

    def __init__(self, data: dict, table: str):
        super().__init__(data)
        self._table = table

    def __str__(self) -> str:
        return self._table

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self._table)}</pre>"


class Chips(list):
    """The built-in chips: a list of objects with ``name``, ``description`` and the values of the table."""

    def __init__(self, rows: list[dict], table: str):
        super().__init__(Record(row) for row in rows)
        self._table = table

    def to_frame(self):
        """A row for each chip, as a pandas.DataFrame."""
        return frame([chip.to_dict() for chip in self])

    def __str__(self) -> str:
        return self._table


def hardware(chip: str | os.PathLike | None = None) -> Chips | Described:
    """The built-in chips; or a chip by its name or the path of its file, as a hardware file has it (docs/hardware.md).

    Raises InputError for a chip that there is not.
    """
    if chip is None:
        text, table = _core.chips()
        return Chips(json.loads(text), table)
    text, table = _core.chip(os.fspath(chip))
    return Described(json.loads(text), table)


class Topology(Described):
    """What ``equarx-sim topology --json`` says of a topology, and a picture of it."""

    def __init__(self, data: dict, table: str, config: str):
        super().__init__(data, table)
        self._config = config

    def to_svg(self) -> str:
        """A picture with the ring highlighted, as SVG. @raises InputError for more chips than are legible"""
        return _core.topology(self._config, True)[2]

    def _repr_svg_(self) -> str | None:
        try:
            return self.to_svg()
        except ValueError:
            return None


def topology(shape, hardware="tpu-v5e") -> Topology:
    """Describes a topology: size, distances, bisection, ring.

    shape: as "topology" of a configuration: ``{"slice": "4x4"}``, ``{"torus": "4x4x4"}``, ``{"ring": 8}``.
    Raises InputError for what is no topology, or not offered with this chip.
    """
    config = to_json({"hardware": hardware, "topology": shape})
    text, table, _ = _core.topology(config, False)
    return Topology(json.loads(text), table, config)


def format_name(name):
    """What a format is called here that other tools call otherwise, like "float8_e4m3fn"; anything else as it is."""
    return _core.format_name(name) if isinstance(name, str) else name


def formats() -> list[dict]:
    """The number formats that have a name: ``name``, ``element``, ``bits`` of an element, whether it has a
    ``shared_scale``, which is of the tensors of all ranks, and whether it is ``scaled``, and then type of ``scale``,
    ``layout`` and ``block`` (docs/numerics.md)."""
    return json.loads(_core.formats())
