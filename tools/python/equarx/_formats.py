"""Formats side by side: error, size and time of one collective."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ._arrays import tensors_of
from ._codec import Codec
from ._collectives import _configuration, _timed, all_gather, allreduce, broadcast, reduce_scatter
from ._errors import InputError
from ._known import format_name
from ._known import formats as known_formats
from .result import frame, html_of_rows, pyplot

_COLLECTIVES = {"all-reduce": allreduce, "reduce-scatter": reduce_scatter, "all-gather": all_gather,
                "broadcast": broadcast}
_SCALE_BITS = {"fp32": 32, "bf16": 16, "fp16": 16, "e8m0": 8, "e4m3": 8}
_MARKERS = "osD^vP*X<>hd"
_HEADINGS = ("machine", "algorithm", "format", "bits", "SQNR", "time", "speedup")


class FormatComparison:
    """Rows of ``compare_formats``, also as a table, a DataFrame and a picture."""

    def __init__(self, rows: list[dict]):
        self._rows = rows

    def to_rows(self) -> list[dict]:
        """A dict for each machine, algorithm and format: ``machine``, ``algorithm``, ``format``,
        ``bits_per_element`` (on the wire, with scales), ``sqnr_db``, ``nmse``, ``time_s`` and ``speedup``."""
        return [dict(row) for row in self._rows]

    def to_frame(self):
        """The rows as a pandas.DataFrame."""
        return frame(self.to_rows())

    def plot(self):
        """SQNR over time as a Matplotlib figure: a panel for each machine, a colour for each format, and a marker for
        each algorithm."""
        plt = pyplot()
        from matplotlib.lines import Line2D
        machines, algorithms, names = (list(dict.fromkeys(row[key] for row in self._rows))
                                       for key in ("machine", "algorithm", "format"))
        figure, axes = plt.subplots(1, len(machines), squeeze=False, layout="constrained",
                                    figsize=(2.2 + 3.9 * len(machines), 4.2), sharey=True)
        colours = {name: f"C{index % 10}" for index, name in enumerate(names)}
        markers = {algorithm: _MARKERS[index % len(_MARKERS)] for index, algorithm in enumerate(algorithms)}
        for ax, machine in zip(axes[0], machines):
            for row in self._rows:
                if row["machine"] == machine:
                    ax.plot(row["time_s"] * 1e6, row["sqnr_db"], markers[row["algorithm"]], color=colours[row["format"]])
            ax.set_title(machine)
            ax.set_xlabel("time (us)")
            ax.margins(0.1)
            ax.grid(alpha=0.3)
        axes[0][0].set_ylabel("SQNR (dB)")
        entries = [Line2D([], [], marker="s", linestyle="", color=colours[name], label=name) for name in names]
        if len(algorithms) > 1:
            entries += [Line2D([], [], marker=markers[one], linestyle="", color="gray", label=one) for one in algorithms]
        axes[0][-1].legend(handles=entries, loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
        return figure

    def _cells(self) -> list[tuple[str, ...]]:
        return [(row["machine"], row["algorithm"], row["format"], f"{row['bits_per_element']:.4g}",
                 f"{row['sqnr_db']:.1f} dB", f"{row['time_s'] * 1e6:.1f} us", f"{row['speedup']:.2f}x")
                for row in self._rows]

    def __str__(self) -> str:
        lines = [_HEADINGS, *self._cells()]
        widths = [max(len(line[i]) for line in lines) for i in range(len(_HEADINGS))]
        return "\n".join("  ".join(cell.ljust(width) if i < 3 else cell.rjust(width)
                                   for i, (cell, width) in enumerate(zip(line, widths))).rstrip() for line in lines)

    def _repr_html_(self) -> str:
        return html_of_rows([dict(zip(_HEADINGS, cells)) for cells in self._cells()])

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        return f"FormatComparison({len(self._rows)} rows)"


def compare_formats(arrays, formats: Sequence[str | Codec], *, collective: str = "all-reduce",
                    algorithms: Sequence[str | None] = (None,), machines: Mapping[str, Mapping] | None = None,
                    topology=None, hardware="tpu-v5e", threads: int = 0) -> FormatComparison:
    """Computes and simulates a collective in several formats, also in codecs of the user.

        equarx.compare_formats(gradients, [codec, "int8", "mxfp8-e4m3"]).plot()

    arrays: one per rank, as for the collective.
    formats: names of ``equarx.formats()`` and ``Codec`` objects.
    collective: "all-reduce", "reduce-scatter", "all-gather" or "broadcast".
    algorithms: names, each with every format; None: the collective's default.
    machines: ``topology`` and ``hardware`` of each machine by its label, instead of the arguments of that name.
    threads: as for the collective.

    Speedups are over the arrays' own type with the fastest algorithm on the same machine.

    Raises InputError as the collective, and for lists that are empty.
    """
    if isinstance(formats, (str, Codec)) or not formats:
        raise InputError('formats must be a list of names and codecs, like [codec, "int8"]')
    if isinstance(algorithms, str) or not algorithms:
        raise InputError('algorithms must be a list of names, like ["equarx", "two-shot"]')
    if collective not in _COLLECTIVES:
        raise InputError(f"collective must be one of {', '.join(_COLLECTIVES)}, not {collective!r}")
    function = _COLLECTIVES[collective]
    if machines is None:
        machines = {str(hardware) if isinstance(hardware, str) else "machine": {"topology": topology,
                                                                                "hardware": hardware}}
    tensors = tensors_of(arrays, None)
    rows = []
    for machine, where in machines.items():
        common: dict[str, Any] = {"topology": None, "hardware": "tpu-v5e", **where, "threads": threads}
        # Its values are not needed.
        baseline = _timed(_configuration(collective, tensors, format=None, topology=common["topology"],
                                         algorithm="auto", hardware=common["hardware"], options={}))
        for algorithm in algorithms:
            for format in formats:
                outcome = function(arrays, format, algorithm=algorithm, time=True, **common)
                assert outcome.timing is not None  # as asked for
                timing = outcome.timing
                rows.append({"machine": machine, "algorithm": timing["algorithm"],
                             "format": format.name if isinstance(format, Codec) else format,
                             "bits_per_element": _bits(format, timing), "sqnr_db": outcome.sqnr_db,
                             "nmse": outcome.nmse, "time_s": timing["time_s"],
                             "speedup": baseline["time_s"] / timing["time_s"]})
    return FormatComparison(rows)


def _bits(format, timing) -> float:
    """Bits on the wire per element, with scales."""
    if isinstance(format, Codec):
        return format.bits_per_element
    name = format_name(format)
    is_cast = name.endswith("-cast")  # to the elements of a format, without its scales
    named = next(one for one in known_formats() if one["name"] == name.removesuffix("-cast"))
    per_scale = named.get("block") or timing.get("elements_per_scale") or 1
    return named["bits"] + (_SCALE_BITS[named["scale"]] / per_scale if named["scaled"] and not is_cast else 0.0)
