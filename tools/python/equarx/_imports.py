"""Programs, profiles, traces and schedules of other systems, in and out."""
from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence

from . import _program
from ._arguments import answer, configuration, options, path
from ._schedule import export_msccl as export_schedule
from ._schedule import take_schedules
from .result import Record


class Imported(Record):
    """Result of an import: all of ``import --json`` (docs/results.md), times in s."""


def _import(kind: str, files: Sequence, given: Mapping[str, object]) -> Imported:
    arguments = ["import", kind, *(path(file, "a program or trace") for file in files), "--json", *options(given)]
    return Imported(json.loads(_program.command(arguments)))


def import_hlo(file: str | os.PathLike, *, topology: str, hardware: str | None = None, mesh: str | None = None,
               device_order: str | None = None, formats: Sequence[str] | None = None, min_bytes: str | None = None,
               trip_count: str | None = None, chips: int | None = None, custom_call: Mapping[str, str] | None = None,
               audit: bool = False) -> Imported:
    """An XLA program as a step, with the speedup of quantized collectives (docs/hlo.md).

    file: HLO text after optimization. topology: like "4x4" or "switch:8". formats: of variants. mesh: like
    "data=4,model=4". custom_call: FLOPs by name, like {"my_kernel": "1.5e12"}. audit: also list wasteful
    collectives. Raises InputError with the line of the program.
    """
    return _import("hlo", [file], {
        "--topology": topology, "--hardware": hardware, "--mesh": mesh, "--device-order": device_order,
        "--formats": formats, "--min-bytes": min_bytes, "--trip-count": trip_count, "--chips": chips,
        "--custom-call": custom_call, "--audit": audit})


def import_chakra(prefix: str | os.PathLike, *, topology: str, hardware: str | None = None,
                  groups: str | os.PathLike | None = None, formats: Sequence[str] | None = None,
                  dtype: str | None = None, recorded_times: bool = False) -> Imported:
    """Chakra execution traces as a step (docs/chakra.md). prefix: of the traces, before ".0.et".
    groups: JSON file of communicator groups."""
    return _import("chakra", [prefix], {"--topology": topology, "--hardware": hardware, "--groups": groups,
                                        "--formats": formats, "--dtype": dtype, "--recorded-times": recorded_times})


def import_kineto(files: str | os.PathLike | Sequence, *, topology: str, hardware: str | None = None) -> Imported:
    """PyTorch's profiles of one rank or several: recorded against simulated times (docs/profiles.md)."""
    given = [files] if isinstance(files, (str, os.PathLike)) else list(files)
    return _import("kineto", given, {"--topology": topology, "--hardware": hardware})


def import_xprof(file: str | os.PathLike, *, topology: str, hardware: str | None = None) -> Imported:
    """XLA's profile: recorded against simulated times (docs/profiles.md)."""
    return _import("xprof", [file], {"--topology": topology, "--hardware": hardware})


def import_msccl(file: str | os.PathLike, *, topology: str | None = None, hardware: str | None = None,
                 bytes: str | None = None, buffer: str | None = None, format: str | None = None) -> Imported:
    """An MSCCL schedule, validated, computed and timed (docs/msccl.md). bytes: of the whole buffer, like
    "1 MiB"."""
    return _import("msccl", [file], {"--topology": topology, "--hardware": hardware, "--bytes": bytes,
                                     "--buffer": buffer, "--format": format})


def export_chakra(config, output: str | os.PathLike, overrides: Mapping | None = None) -> None:
    """Writes a step as Chakra execution traces: output.0.et, output.1.et and so on (docs/chakra.md)."""
    named, text = configuration(config, overrides)
    answer(["export", "chakra", *named, "-o", path(output, "output")], config, text)


def export_msccl(config, overrides: Mapping | None = None, *, collective: str | None = None) -> str:
    """An unquantized collective as an MSCCL schedule, in XML (docs/msccl.md). collective: its label."""
    if take_schedules(config)[1]:
        return export_schedule(config, overrides, collective)
    named, text = configuration(config, overrides)
    return answer(["export", "msccl", *named, *options({"--collective": collective})], config, text)


def export_table(config, overrides: Mapping | None = None, *, kind: str = "csv", collectives: Sequence[str] | None = None,
                 bytes: str | None = None, ranks: Sequence[int] | None = None, collective: str | None = None,
                 device: str | None = None) -> str:
    """Predictions of a configuration's collectives over sizes and ranks, as text (docs/predictor.md).

    kind: "csv", "nccl-perf" or "xla".
    collectives: kinds, like ["all-reduce", "all-gather"].
    bytes: sizes, like "1 KiB..1 GiB".
    ranks: numbers of ranks, on a switch or fully connected.
    collective: label of the only one to export.
    device: XLA's key, by default the chip's.
    """
    named, text = configuration(config, overrides)
    given = {"--collectives": collectives, "--bytes": bytes, "--ranks": ranks, "--collective": collective,
             "--device": device}
    return answer(["export", kind, *named, *options(given)], config, text)
