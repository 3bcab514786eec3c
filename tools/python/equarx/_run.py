"""equarx.run()."""
from __future__ import annotations

import json
import os
from collections.abc import Mapping

from . import _core, _helpers, _tensors
from ._config import naming_file, overrides_of, text_of
from ._errors import InputError
from ._schedule import cores_of, take_schedules
from .result import Result


def run(config, overrides: Mapping | None = None, *, links: bool = False, uncertainty: bool = False,
        sensitivity: bool = False, tensors: bool | str | os.PathLike = False, inputs: bool = False) -> Result:
    """Runs an experiment: times by simulation, errors by arithmetic on every element.

    config: a configuration (docs/configuration.md) as a dict, or the path of a JSON file. The
        ``algorithm`` of a collective in a dict may be a ``Schedule``.
    overrides: values by JSON pointer that replace the configuration's, like ``--set``:
        ``{"/tensor/bytes": "8 MiB", "/topology/slice": "4x4"}``.
    links: adds bytes, busy time and utilisation of every link direction.
    uncertainty: adds intervals of times and speedups; sensitivity: adds the parameters that times
        depend on.
    tensors: adds the ranks' results, as ``result.tensors["full-loop"]``, and
        ``result.tensors.exact_sum``. A path is the folder for their files (docs/results.md); True
        uses a temporary folder, unlinked at once, whose space is freed with the arrays. Needs
        NumPy. inputs: adds the input of each rank, too: ``result.tensors.inputs[0]``.

    The numbers equal ``equarx-sim run --json``. The direct engine runs in this process,
    without the interpreter's lock; SimGrid runs in a helper process.

    Raises InputError, with the JSON pointer, if the configuration is invalid.
    """
    named, schedules = take_schedules(config)
    text, pairs = text_of(named), overrides_of(overrides)
    if inputs and not tensors:
        raise InputError("inputs: requires tensors; give tensors=True, too")
    with _tensors.folder_for(tensors) as folder, naming_file(config):
        planned = _core.plan(text, pairs, links, uncertainty, sensitivity, folder, inputs, cores_of(schedules))
        if not planned.needs_simgrid:
            result, table, paths = planned.run()
            data, files = json.loads(result), json.loads(paths)
        else:
            answer = _helpers.ask({"config": json.loads(text), "overrides": pairs, "links": links,
                                   "uncertainty": uncertainty, "sensitivity": sensitivity, "tensors": folder,
                                   "inputs": inputs})
            data, table, files = answer["result"], answer["table"], answer["tensors"]
        return Result(data, table, _tensors.read(files, [run["label"] for run in data["runs"]]))
