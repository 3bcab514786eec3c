"""equarx.run()."""
from __future__ import annotations

import json
from collections.abc import Mapping

from . import _core, _helpers
from ._config import naming_file, overrides_of, text_of
from .result import Result


def run(config, overrides: Mapping | None = None, *, links: bool = False, uncertainty: bool = False,
        sensitivity: bool = False) -> Result:
    """Runs an experiment: times by simulation, errors by arithmetic on every element.

    config: a configuration (docs/configuration.md) as a dict, or the path of a JSON file.
    overrides: values by JSON pointer that replace the configuration's, as ``--set`` does:
        ``{"/tensor/bytes": "8 MiB", "/topology/slice": "4x4"}``.
    links: with bytes, busy time and utilisation of every link direction.
    uncertainty: with intervals of times and speedups; sensitivity: with what times depend on.

    The numbers are those of ``equarx-sim run --json``. What the direct engine simulates runs in this process, without
    the interpreter's lock; what SimGrid simulates runs in a helper process.

    Raises InputError, with the JSON pointer, for what is wrong in the configuration.
    """
    text, pairs = text_of(config), overrides_of(overrides)
    with naming_file(config):
        planned = _core.plan(text, pairs, links, uncertainty, sensitivity)
        if not planned.needs_simgrid:
            answer, table = planned.run()
            return Result(json.loads(answer), table)
        answer = _helpers.ask({"config": json.loads(text), "overrides": pairs, "links": links,
                               "uncertainty": uncertainty, "sensitivity": sensitivity})
        return Result(answer["result"], answer["table"])
