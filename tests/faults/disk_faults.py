"""Full disks, file size limits, read-only folders."""
import resource
import shutil

from killed_commands import COMMANDS, Command
from kills import contents
from program import Place, Skipped, check, check_done, check_refused, names_in
from registry import fault

QUICK = ("tune", "run --trace", "run --output-tensors of one file", "quantize", "export", "topology")
OTHERS = ("sweep", "calibrate", "run --output-tensors", "report", "import")
SMALL = ("tune", "topology", "sweep", "calibrate")  # their output fits in a page of memory


def small_files(most: int):
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


def check_nothing_half(place: Place, command: Command, before: dict[str, bytes]) -> None:
    """Existing files are unchanged; a sweep may have added whole lines."""
    out = place.folder / "out"
    for name in names_in(out) if out.exists() else []:
        text = (out / name).read_bytes()
        if name == "results.jsonl":
            check(text == b"" or text.endswith(b"\n"), f"{command.words[0]}: {name} has half a line")
        elif name != "lock":
            check(before.get(name) == text, f"{command.words[0]}: {name} was changed, or is partial")


def both(name: str):
    """Makes two faults from a function of a Place and of commands; the second one is slower."""
    def keep(function):
        fault(name)(lambda place: function(place, QUICK))
        fault(f"{name} (other commands)", slow=True)(lambda place: function(place, OTHERS))
    return keep


@both("files may not grow")
def files_may_not_grow(place: Place, names) -> None:
    for name in names:
        command = COMMANDS[name]
        here = Place(place.program, place.folder / name.replace(" ", "_"))
        command.prepare(here)
        check_refused(here.run(*command.words, preexec_fn=small_files(100)))
        check_nothing_half(here, command, {})


@fault("files may not grow next to older results", slow=True)
def older_results_stay(place: Place) -> None:
    for name in ("run --trace", "tune", "quantize", "run --output-tensors"):
        command = COMMANDS[name]
        here = Place(place.program, place.folder / name.replace(" ", "_"))
        command.prepare(here)
        check_done(here.run(*command.words))
        before = {file: (here.folder / "out" / file).read_bytes() for file in names_in(here.folder / "out")}
        check_refused(here.run(*command.words, preexec_fn=small_files(100)))
        check_nothing_half(here, command, before)
        check(set(before) == set(names_in(here.folder / "out")), f"{name}: something was left, or is missing")


def in_mount(how: str) -> list[str]:
    """Prefix of a command that mounts `out` like this in a private namespace; its contents are
    printed at the end."""
    if not shutil.which("unshare"):
        raise Skipped("unshare is not installed")
    script = f'{how} && "$@"; code=$?; ls -A out >left.txt; exit $code'
    return ["unshare", "--mount", "--map-root-user", "sh", "-c", script, "sh"]


def check_mounts(place: Place) -> None:
    (place.folder / "out").mkdir(exist_ok=True)
    if place.run(before=in_mount("mount -t tmpfs none out"), program=["true"]).code != 0:
        raise Skipped("mounting is not permitted here")


@both("a full disk")
def full_disk(place: Place, names) -> None:
    check_mounts(place)
    for name in names:
        if name in SMALL:
            continue
        command = COMMANDS[name]
        here = Place(place.program, place.folder / name.replace(" ", "_"))
        command.prepare(here)
        (here.folder / "out").mkdir(exist_ok=True)
        done = here.run(*command.words, before=in_mount("mount -t tmpfs -o size=4k none out"))
        check_refused(done)
        left = (here.folder / "left.txt").read_text().split()
        check(left == [], f"{name}: left on the full disk: {left}")


@fault("a sweep on a full disk resumes when there is space", slow=True)
def sweep_on_full_disk(place: Place) -> None:
    check_mounts(place)
    command = COMMANDS["sweep"]
    command.prepare(place)
    keep = "mkdir -p kept; cp out/results.jsonl kept/"
    before = in_mount("mount -t tmpfs -o size=100k none out")
    before[-2] = before[-2].replace("ls -A out >left.txt", keep)
    done = place.run(*command.words, before=before)
    check_refused(done, "free some space and run the same command again")
    lines = (place.folder / "kept" / "results.jsonl").read_bytes()
    check(lines.endswith(b"\n") and lines.count(b"\n") > 2, "finished lines are incomplete")
    check_done(place.run("sweep", "sweep.json", "-o", "kept"))
    check((place.folder / "kept" / "results.jsonl").read_bytes().startswith(lines), "finished lines are lost")


@both("a folder that may only be read")
def read_only(place: Place, names) -> None:
    check_mounts(place)
    for name in names:
        command = COMMANDS[name]
        here = Place(place.program, place.folder / name.replace(" ", "_"))
        command.prepare(here)
        (here.folder / "out").mkdir(exist_ok=True)
        check_refused(here.run(*command.words, before=in_mount("mount -t tmpfs -o ro none out")), "out")


@fault("no /proc, without which new files need temporary names")
def without_proc(place: Place) -> None:
    check_mounts(place)
    hide = in_mount("mount -t tmpfs none /proc")
    for name in ("run --trace", "quantize", "run --output-tensors of one file"):
        command = COMMANDS[name]
        here = Place(place.program, place.folder / name.replace(" ", "_"))
        command.prepare(here)
        check_done(here.run(*command.words))
        expected = contents(here.folder / "out")
        (here.folder / "out" / next(iter(expected))).write_text("older")
        check_done(here.run(*command.words, before=hide))
        check(contents(here.folder / "out") == expected, f"{name}: {names_in(here.folder / 'out')} differ from those with it")
        check_refused(here.run(*command.words, before=hide, preexec_fn=small_files(100)))
        check(contents(here.folder / "out") == expected, f"{name}: something was left, or changed")
