"""Store of a study: cells, each computed once and written whole, so that a killed study resumes."""
import argparse
import concurrent.futures
import contextlib
import dataclasses
import hashlib
import json
import multiprocessing
import os
import pathlib
import sys
import threading
import time


class QualityError(Exception):
    """An error that the user can correct: one sentence with the remedy."""


@dataclasses.dataclass(frozen=True)
class Cell:
    """A part of a study that is computed by itself. `definition`: every input of its result, as
    JSON."""

    name: str
    definition: dict

    def file(self, folder: pathlib.Path) -> pathlib.Path:
        digest = hashlib.sha256(json.dumps(self.definition, sort_keys=True).encode()).hexdigest()[:12]
        return folder / "cells" / f"{self.name.replace('/', '_').replace(' ', '_')}-{digest}.json"


def write_whole(path: pathlib.Path, contents: str | bytes) -> None:
    """Writes the file atomically. @raises QualityError if the folder cannot be written"""
    part = path.with_suffix(path.suffix + f".part{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(contents.encode() if isinstance(contents, str) else contents)
        part.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):  # the folder itself may be missing
            part.unlink(missing_ok=True)
        raise QualityError(f"--output: cannot write {path}: {error.strerror}; give another folder") from error


def remove_parts(folder: pathlib.Path) -> None:
    """Removes temporary files of processes killed while writing."""
    for part in folder.rglob("*.part*"):
        process = part.suffix.removeprefix(".part")
        if process.isdigit() and not pathlib.Path("/proc", process).exists():
            part.unlink(missing_ok=True)


def kept_result(file: pathlib.Path) -> dict | None:
    """Result of a computed cell; None if it is missing or its file is damaged, as after a power
    failure."""
    try:
        return json.loads(file.read_text())
    except (FileNotFoundError, ValueError):
        return None


class Progress:
    """Progress: cells done, and the estimated time left."""

    def __init__(self, cells: int, known: int):
        self.cells, self.done, self.begin = cells, known, time.monotonic()
        self.known = known
        if known:
            print(f"{known} of {cells} cells are there already", flush=True)

    def add(self, name: str, what: str) -> None:
        self.done += 1
        each = (time.monotonic() - self.begin) / (self.done - self.known)
        left = each * (self.cells - self.done)
        print(f"[{self.done}/{self.cells}] {name}: {what}; {left / 60:.1f} min left", flush=True)


def _leave() -> None:
    multiprocessing.parent_process().join()
    os._exit(1)


def _leave_with_parent() -> None:
    """A pool process whose parent is killed would wait for work forever."""
    threading.Thread(target=_leave, daemon=True).start()


def fill(folder: pathlib.Path, cells: list[Cell], compute, workers: int, summary) -> dict[str, dict]:
    """The result of each cell by its name, in the order of `cells`: from its file, or from
    `compute(definition)`, a function of a module."""
    remove_parts(folder)
    kept = {cell.name: kept_result(cell.file(folder)) for cell in cells}
    results = {name: result for name, result in kept.items() if result is not None}
    missing = [cell for cell in cells if cell.name not in results]
    progress = Progress(len(cells), len(results))

    def keep(cell: Cell, result: dict) -> None:
        write_whole(cell.file(folder), json.dumps(result))
        results[cell.name] = result
        progress.add(cell.name, summary(result))

    if workers == 1:
        for cell in missing:
            keep(cell, compute(cell.definition))
        return {cell.name: results[cell.name] for cell in cells}
    with concurrent.futures.ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"),
                                                _leave_with_parent) as pool:
        running = {pool.submit(compute, cell.definition): cell for cell in missing}
        for future in concurrent.futures.as_completed(running):
            keep(running[future], future.result())
    return {cell.name: results[cell.name] for cell in cells}


class _Parser(argparse.ArgumentParser):
    def error(self, message: str):
        raise QualityError(f"{message}; see --help")


def arguments(description: str, **own: dict) -> argparse.Namespace:
    """Options that all studies share, and some of one study by name."""
    parser = _Parser(description=description)
    for name, option in own.items():
        parser.add_argument(f"--{name}", **option)
    parser.add_argument("--output", metavar="DIR", type=pathlib.Path, required=True, help="where results go; a study "
                        "that was interrupted goes on there")
    parser.add_argument("--reduced", action="store_true", help="a small form that takes seconds, and shows nothing")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), metavar="N",
                        help="processes at once (all cores)")
    parser.add_argument("--text", metavar="FILE", help="a text file to learn, instead of that of the Debian package")
    chosen = parser.parse_args()
    if chosen.threads < 1:
        raise QualityError(f"--threads: {chosen.threads} is too few; use 1 or more")
    return chosen


def run(study) -> None:
    """Runs a command; an error that the user can correct is one line and exit code 2."""
    try:
        study()
    except QualityError as error:
        print(f"{pathlib.Path(sys.argv[0]).name}: error: {error}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:  # the reader of the output (| head) has exited; finished cells are kept
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except KeyboardInterrupt:
        print("interrupted; the same command goes on from here", file=sys.stderr)
        sys.exit(130)
