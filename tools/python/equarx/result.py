"""Results of a run, as attributes, rows, tables and pictures."""
from __future__ import annotations

import html
import json
from collections.abc import Iterator, Mapping

from ._tensors import Tensors


class Record(Mapping):
    """A JSON object whose members are attributes, too: ``record.mse`` is ``record["mse"]``.

    Names and units are as in docs/results.md; a member that is an object is a Record. A
    non-finite number is None.
    """

    def __init__(self, data: dict):
        self._data = data

    def __getitem__(self, name: str):
        value = self._data[name]
        return Record(value) if isinstance(value, dict) else value

    def __getattr__(self, name: str):
        if name.startswith("_") or name not in self._data:
            raise AttributeError(f"there is no {name!r}; there are {', '.join(self._data)}"
                                 if not name.startswith("_") else name)
        return self[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __dir__(self):
        return [*super().__dir__(), *self._data]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._data!r})"

    def to_dict(self) -> dict:
        """The object in its JSON form."""
        return json.loads(json.dumps(self._data))

    def _repr_html_(self) -> str:
        """Its numbers and texts as a table, for notebooks."""
        return html_of(flat(self._data))


def _shown(value) -> str:
    """A value of a table: six digits are enough to compare."""
    return html.escape(f"{value:.6g}" if isinstance(value, float) else str(value))


def html_of(values: Mapping) -> str:
    """Names and values as a table of HTML, a row each."""
    rows = "".join(f"<tr><th style='text-align:left'>{html.escape(name)}</th><td>{_shown(value)}</td></tr>"
                   for name, value in values.items())
    return f"<table>{rows}</table>"


def html_of_rows(rows: list[dict], most: int = 60) -> str:
    """A table of HTML with a column for each name, and the number of rows that are left out."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
    lines = "".join("<tr>" + "".join(f"<td>{_shown(row.get(name, ''))}</td>" for name in names) + "</tr>"
                    for row in rows[:most])
    left_out = f"<p>{len(rows) - most} more rows</p>" if len(rows) > most else ""
    return f"<table><tr>{head}</tr>{lines}</table>{left_out}"


class Run(Record):
    """The run of one collective. In addition to ``time``, all of ``runs[]`` in docs/results.md."""

    @property
    def time(self) -> float | None:
        """Simulated time in seconds; None if the run failed."""
        return self._data["time_s"]

    def __repr__(self) -> str:
        time, speedup = self.time, self._data["speedup"]
        return f"Run({self._data['label']}: {'failed' if time is None else f'{time * 1e6:.1f} us'}" + (
            "" if speedup is None else f", {speedup:.3f}x") + ")"


def flat(data: dict, prefix: str = "") -> dict:
    """Numbers and texts of an object by their path, like "numerics/mse". Lists are left out."""
    columns = {}
    for name, value in data.items():
        if isinstance(value, dict):
            columns.update(flat(value, f"{prefix}{name}/"))
        elif not isinstance(value, list):
            columns[prefix + name] = value
    return columns


def frame(rows: list[dict]):
    """A pandas.DataFrame of rows. @raises ImportError without pandas."""
    try:
        import pandas
    except ImportError:
        raise ImportError("a DataFrame needs pandas (apt install python3-pandas, or pip install pandas); "
                          "to_rows() has the same without it") from None
    return pandas.DataFrame(rows)


class Result:
    """The result of an experiment. ``print(result)`` shows the table of ``equarx-sim run``."""

    def __init__(self, data: dict, table: str, tensors: Tensors | None = None):
        self._data = data
        self._table = table
        #: The ranks' results, by label, if ``tensors`` was set; else None.
        self.tensors = tensors
        self._runs = {run["label"]: Run(run) for run in data["runs"]}

    @property
    def runs(self) -> dict[str, Run]:
        """The runs by their label, in the order of the configuration."""
        return dict(self._runs)

    @property
    def baseline(self) -> Run:
        """The run that speedups and errors refer to."""
        return self._runs[self._data["baseline"]]

    @property
    def config(self) -> dict:
        """The configuration with every default filled in; run() accepts it again."""
        return json.loads(json.dumps(self._data["config"]))

    def to_dict(self) -> dict:
        """The object that ``equarx-sim run --json`` prints (docs/results.md)."""
        return json.loads(json.dumps(self._data))

    def to_rows(self) -> list[dict]:
        """One flat dict per run; nested numbers by their path, like "numerics/mse"."""
        return [flat(run) for run in self._data["runs"]]

    def to_frame(self):
        """The rows as a pandas.DataFrame."""
        return frame(self.to_rows())

    def plot(self, ax=None):
        """Stacked bars of the time breakdown of each run, on a Matplotlib axes, which is returned; of
        a step, compute and exposed communication.

        The legend is to the right of the axes, where it covers no bar; a figure of your own
        reserves space for it with layout="constrained"."""
        return plot_breakdown(self._data["runs"], ax)

    def __str__(self) -> str:
        return self._table

    def __repr__(self) -> str:
        return f"Result({', '.join(repr(run) for run in self._runs.values())})"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self._table)}</pre>"


# Parts of a breakdown (docs/results.md), with their labels in pictures.
_PARTS = {"payload_s": "payload", "scales_s": "scales", "sync_s": "synchronisation", "startup_s": "start-up",
          "idle_s": "idle"}
# The same of a step.
_STEP_PARTS = {"compute_s": "compute", "exposed_s": "exposed communication"}


def pyplot():
    """Matplotlib's module. @raises ImportError without it."""
    try:
        import matplotlib.pyplot
    except ImportError:
        raise ImportError("a picture needs Matplotlib (apt install python3-matplotlib, or pip install "
                          "matplotlib)") from None
    return matplotlib.pyplot


def plot_breakdown(runs: list[dict], ax=None):
    """Stacked bars of the breakdowns of runs."""
    if ax is None:
        ax = pyplot().figure(layout="constrained").add_subplot()
    done = [run for run in runs if run["time_s"] is not None]
    labels = [run["label"] for run in done]
    ends = [0.0] * len(done)
    is_collective = all("breakdown" in run for run in done)
    for key, name in (_PARTS if is_collective else _STEP_PARTS).items():
        parts = [(run["breakdown"] if is_collective else run)[key] * 1e6 for run in done]
        if any(parts):
            ax.barh(labels, parts, left=ends, label=name)
            ends = [end + part for end, part in zip(ends, parts)]
    ax.invert_yaxis()
    ax.set_xlabel("time of the busiest link (us)" if is_collective else "time (us)")
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    return ax
