"""Little memory, few processes and files, a small stack, unusual environments."""
import json
import os
import pathlib
import resource
import shutil
import tempfile

from killed_commands import COMMANDS, config_of, write_tensor
from program import SMALL, WRONG_INPUT, Place, Skipped, as_another_user, check, check_done, check_line, check_refused
from registry import fault

MEBIBYTE = 1 << 20


def limiting(what: int, most: int):
    return lambda: resource.setrlimit(what, (most, most))


def check_done_or_refused(done, *words: str) -> None:
    """The command succeeds or fails with a one-line reason. No signal ends it."""
    if done.code != 0:
        check(done.code == WRONG_INPUT, f"exit code {done.code}: {done.err[-300:]!r}")
        check_line(done, *words)


@fault("little address space")
def little_memory(place: Place) -> None:
    config = place.config(engine="direct", tensor={"bytes": "4 MiB"})
    place.config("big.json", tensor={"bytes": "512 MiB"})
    for mebibytes in (40, 48, 56, 64, 72, 80, 100, 150):
        done = place.run("run", config, preexec_fn=limiting(resource.RLIMIT_AS, mebibytes * MEBIBYTE))
        if done.code == 127 or b"shared libraries" in done.err:
            continue  # the program was not even loaded
        check_done_or_refused(done, "memory")
    check_refused(place.run("run", "big.json", preexec_fn=limiting(resource.RLIMIT_AS, 400 * MEBIBYTE)), "memory")


@fault("little memory for workers", slow=True)
def little_memory_for_workers(place: Place) -> None:
    sweep = {"base": SMALL | {"engine": "direct"}, "axes": [
        {"key": "/tensor/bytes", "values": ["64 KiB", "16 MiB", "64 MiB"]}]}
    (place.folder / "sweep.json").write_text(json.dumps(sweep))
    for mebibytes in (44, 48, 52, 56, 64, 80):
        done = place.run("sweep", "sweep.json", "-o", "out", "-j", "2", "--fresh",
                         preexec_fn=limiting(resource.RLIMIT_AS, mebibytes * MEBIBYTE))
        if b"shared libraries" in done.err:
            continue  # the program was not even loaded
        check(done.code in (0, 1, 2), f"exit code {done.code}: {done.err[-300:]!r}")
        results = place.folder / "out" / "results.jsonl"
        for line in results.read_text().splitlines() if results.exists() else []:
            error = json.loads(line).get("error", "memory")
            check("memory" in error, f"a point failed for a different reason: {error}")
    check_done(place.run("sweep", "sweep.json", "-o", "out", "--retry"))


def memory_group() -> pathlib.Path:
    """A cgroup below this process's own, with a child cgroup, as containers and job schedulers
    create them."""
    for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, group = line.split(":", 2)
        if "memory" in controllers.split(","):
            outer = pathlib.Path("/sys/fs/cgroup/memory") / group.lstrip("/") / f"equarx-{os.getpid()}"
            break
    else:
        outer = pathlib.Path("/sys/fs/cgroup") / f"equarx-{os.getpid()}"
    try:
        (outer / "inner").mkdir(parents=True)
    except OSError as error:
        raise Skipped(f"control groups cannot be created here: {error.strerror}") from error
    return outer


@fault("little memory in a control group around another")
def control_group(place: Place) -> None:
    outer = memory_group()
    try:
        limits = [outer / name for name in ("memory.limit_in_bytes", "memory.max") if (outer / name).exists()]
        if not limits:
            raise Skipped("control groups do not limit memory here")
        limits[0].write_text(str(200 * MEBIBYTE))
        place.config("big.json", tensor={"bytes": "256 MiB"})
        enter = f'echo $$ >"{outer}/inner/cgroup.procs" && exec "$@"'
        done = place.run("run", "big.json", before=["sh", "-c", enter, "sh"])
        check_refused(done, "memory, but this computer has")
    finally:
        (outer / "inner").rmdir()
        outer.rmdir()


@fault("few files may be open", slow=True)
def few_files(place: Place) -> None:
    COMMANDS["sweep"].prepare(place)
    config = place.config(engine="simgrid")
    for most in (5, 6, 7, 8, 10, 12, 16, 20):
        limit = limiting(resource.RLIMIT_NOFILE, most)
        check_done_or_refused(place.run("run", config, preexec_fn=limit))
        check_done_or_refused(place.run("sweep", "sweep.json", "-o", f"out{most}", "-j", "6", preexec_fn=limit), "files")


def without_processes(place: Place) -> list[str]:
    """Prefix of a command that may have no further process or thread. Root is exempt from the
    limit, so it uses another user."""
    if not shutil.which("prlimit"):
        raise Skipped("prlimit is not installed")
    return [*as_another_user(place), "prlimit", "--nproc=1", "--"]


@fault("no further process or thread")
def no_process(place: Place) -> None:
    before = without_processes(place)
    if place.run(before=before, program=[str(place.program)], *["--version"]).code != 0:
        raise Skipped("another user cannot read the program")
    COMMANDS["sweep"].prepare(place)
    write_tensor(place)
    simgrid, direct = place.config("simgrid.json", engine="simgrid"), place.config(engine="direct")
    check_refused(place.run("run", simgrid, before=before), "another process or thread", "ulimit -u")
    check_refused(place.run("sweep", "sweep.json", "-o", "swept", before=before), "another process or thread")
    for words in (["run", direct], ["run", direct, "--uncertainty"], ["tune", direct]):
        alone = place.run(*words, before=before)
        check_done(alone)
        check(alone.out == place.run(*words).out, f"{words}: different result without threads")
    check_done_or_refused(place.run("quantize", "big.npy", before=before), "another process or thread")


@fault("a small stack")
def small_stack(place: Place) -> None:
    config = place.config()
    expected = place.run("run", config).out
    for kibibytes in (192, 256, 512):
        done = place.run("run", config, preexec_fn=limiting(resource.RLIMIT_STACK, kibibytes * 1024))
        check_done(done)
        check(done.out == expected, "different result")
    deep = "[" * 100_000
    check_refused(place.run("run", "-", given=deep.encode(), preexec_fn=limiting(resource.RLIMIT_STACK, 512 * 1024)))


@fault("an empty or unusual environment")
def environments(place: Place) -> None:
    config = place.config()
    expected = place.run("run", config, "--json").out
    odd = [{"PATH": "/nowhere"}, {"HOME": "/nowhere", "TMPDIR": "/nowhere", "TERM": "none"},
           {"LC_ALL": "tr_TR.UTF-8", "LANG": "\xff", "TZ": "Nowhere/Nothing"}, {"OMP_NUM_THREADS": "-1"}]
    for environment in odd:
        done = place.run("run", config, "--json", env=environment)
        check_done(done)
        check(done.out == expected, f"{environment}: different result")


@fault("a locale with a decimal comma", slow=True)
def decimal_comma(place: Place) -> None:
    with tempfile.TemporaryDirectory() as locales:
        made = place.run("-i", "de_DE", "-f", "UTF-8", f"{locales}/de_DE.UTF-8", program=["localedef"]) \
            if shutil.which("localedef") and pathlib.Path("/usr/share/i18n/locales/de_DE").exists() else None
        if made is None or not pathlib.Path(locales, "de_DE.UTF-8", "LC_NUMERIC").exists():
            raise Skipped("localedef or its locale sources are not installed")
        environment = {"LOCPATH": locales, "LC_ALL": "de_DE.UTF-8"}
        for words in (["run", place.config(), "--json"], ["tune", "config.json"], ["topology", "--slice", "4x2"],
                      ["calibrate", config_of("calibrations", "made_up_chip.json")]):
            check(place.run(*words).out == place.run(*words, env=environment).out, f"{words[0]}: different result")


@fault("a CPU time limit", slow=True)
def processor_time(place: Place) -> None:
    COMMANDS["sweep"].prepare(place)
    sweep = json.loads((place.folder / "sweep.json").read_text())
    sweep["base"]["engine"] = "simgrid"
    (place.folder / "sweep.json").write_text(json.dumps(sweep))
    done = place.run("sweep", "sweep.json", "-o", "out", "-j", "2", preexec_fn=limiting(resource.RLIMIT_CPU, 1))
    check(done.code <= 1, f"exit code {done.code}")
    check_done(place.run("sweep", "sweep.json", "-o", "out", "--retry"))
