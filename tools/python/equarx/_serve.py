"""equarx.serve()."""
from __future__ import annotations

import json
from collections.abc import Mapping

from ._arguments import answer, configuration, options
from ._pictures import Picture, picture
from .result import Record, flat, frame


class Served(Record):
    """Result of serving a load: all of ``serve --json`` (docs/serving.md), times in s, sizes in bytes,
    as attributes: ``served.ttft.p99_s``, ``served.requests_per_s``, ``served.latency_share.prefills``."""

    @property
    def config(self) -> dict:
        """The configuration with every default filled in; serve() accepts it again."""
        return json.loads(json.dumps(self._data["config"]))

    @property
    def metrics(self) -> dict:
        """All numbers in one flat dict, by their path, like "ttft/p99_s"."""
        return flat({name: value for name, value in self._data.items() if name not in ("version", "config")})

    @property
    def by_request(self) -> dict:
        """NumPy arrays with a value per request, in the order of arrival: ``arrival_s``, ``prompt`` and
        ``output`` (tokens), ``ttft_s``, ``tpot_s`` (0 for a single token), ``latency_s``, ``replica``,
        ``preemptions``, and seconds in every state, like ``waits_for_memory_s``.

        @raises ValueError if serve() was called with requests=False.
        """
        import numpy
        rows = self._rows()
        return {name: numpy.array([row[name] for row in rows]) for name in rows[0]}

    def plot(self) -> Picture:
        """Distributions of the latencies, or the latencies against load if there are several."""
        return picture("served", self._data)

    def to_frame(self):
        """The requests as a pandas.DataFrame, a row each."""
        return frame(self._rows())

    def _rows(self) -> list[dict]:
        if "requests_list" not in self._data:
            raise ValueError("there are no times of requests; call serve() with requests=True")
        return self._data["requests_list"]

    def __repr__(self) -> str:
        return (f"Served({self.requests} requests, {self.requests_per_s:.4g}/s; TTFT {self.ttft.p50_s * 1e3:.4g} ms, "
                f"TPOT {self.tpot.p50_s * 1e3:.4g} ms)")


def serve(config, overrides: Mapping | None = None, *, requests: bool = True, uncertainty: bool = False) -> Served:
    """Simulates a served model under a load: time to first token, per token, throughput
    (docs/serving.md).

    config: a served model as a dict, or the path of a JSON file.
    overrides: values by JSON pointer that replace the configuration's, like ``--set``:
        ``{"/serving/load/requests_per_s": 8}``.
    requests: also the times of every request, for ``by_request`` and ``to_frame()``.
    uncertainty: adds 68 % intervals: ``served.uncertainty.ttft_p50_low_s``.

    Runs ``equarx-sim serve``. Raises InputError, with the JSON pointer, if the configuration is
    invalid, or a request never fits.
    """
    named, text = configuration(config, overrides)
    arguments = ["serve", *named, "--json", *options({"--requests": requests, "--uncertainty": uncertainty})]
    return Served(json.loads(answer(arguments, config, text)))
