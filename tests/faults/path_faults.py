"""Special paths: links, cycles, pipes, devices, folders."""
import json
import os
import threading

from killed_commands import write_sweep
from program import REPOSITORY, Place, as_another_user, check, check_done, check_refused
from registry import fault


def writing_commands(place: Place) -> list[list[str]]:
    """Fast commands that write one file; the file is the last argument."""
    config = place.config()
    return [["run", config, "--trace"], ["tune", config, "-o"], ["topology", "--slice", "4x2", "--svg"],
            ["export", "msccl", config, "-o"]]


@fault("an output is a link to a missing file")
def dangling_output(place: Place) -> None:
    for words in writing_commands(place):
        link, target = place.folder / f"{words[0]} link", place.folder / f"{words[0]} target"
        link.symlink_to(target.name)
        check_done(place.run(*words, link.name))
        check(link.is_symlink() and target.is_file(), f"{words[0]}: the link was replaced instead of its target")


@fault("an output is a cycle of links")
def circle_output(place: Place) -> None:
    (place.folder / "a").symlink_to("b")
    (place.folder / "b").symlink_to("a")
    for words in writing_commands(place):
        check_refused(place.run(*words, "a"), "a: ", "symbolic links")


@fault("an output is a folder or a pipe or a device")
def output_is_no_file(place: Place) -> None:
    (place.folder / "folder").mkdir()
    os.mkfifo(place.folder / "pipe")
    for words in writing_commands(place):
        check_refused(place.run(*words, "folder"), "folder")
        check_refused(place.run(*words, "pipe"), "pipe or a device")
        check_refused(place.run(*words, "/dev/full"), "pipe or a device")


@fault("an input is not a file")
def input_is_no_file(place: Place) -> None:
    (place.folder / "folder").mkdir()
    (place.folder / "circle").symlink_to("circle")
    (place.folder / "nowhere").symlink_to("nothing")
    (place.folder / "empty").write_text("")
    for name in ("folder", "circle", "nowhere", "empty", "/dev/null", "nothing"):
        for words in (["run", name], ["sweep", name], ["tune", name], ["calibrate", name], ["quantize", name],
                      ["import", "hlo", name], ["import", "msccl", name], ["report", name], ["compare", name, name],
                      ["reproduce", name], ["hardware", f"./{name}"]):
            done = place.run(*words)
            check(done.code == 2 and done.err.count(b"\n") == 1, f"{words}: exit code {done.code}: {done.err[:200]!r}")


@fault("a configuration from a pipe")
def named_pipe(place: Place) -> None:
    config = place.config()
    os.mkfifo(place.folder / "pipe")
    writer = threading.Thread(target=lambda: (place.folder / "pipe").write_bytes((place.folder / config).read_bytes()))
    writer.start()
    piped = place.run("run", "pipe")
    writer.join()
    check_done(piped)
    check(piped.out == place.run("run", config).out, "the result differs")
    given = place.run("run", "/dev/stdin", given=(place.folder / config).read_bytes())
    check(given.out == piped.out, "the result of /dev/stdin differs")


@fault("the results folder is a link")
def linked_folder(place: Place) -> None:
    sweep = {"base": json.loads((place.folder / place.config()).read_text()),
             "axes": [{"key": "/tensor/bytes", "values": ["16 KiB"]}]}
    (place.folder / "sweep.json").write_text(json.dumps(sweep))
    (place.folder / "there").mkdir()
    (place.folder / "link").symlink_to("there")
    check_done(place.run("sweep", "sweep.json", "-o", "link"))
    check((place.folder / "there" / "results.csv").is_file(), "the results are not in the link's target")
    (place.folder / "nowhere").symlink_to("nothing")
    check_refused(place.run("sweep", "sweep.json", "-o", "nowhere"), "nowhere")


@fault("an unreadable folder")
def locked_folder(place: Place) -> None:
    before = as_another_user(place)
    (place.folder / "locked" / "in").mkdir(parents=True)
    (place.folder / "locked").chmod(0o000)
    config = place.config()
    write_sweep(place)
    try:
        for words in (["run", "locked/c.json"], ["sweep", "sweep.json", "-o", "locked/in/out"], ["sweep", "locked/s.json"],
                      ["reproduce", "locked/in"], ["run", config, "--trace", "locked/in/t.json"],
                      ["run", config, "--output-tensors", "locked/in"], ["tune", config, "-o", "locked/best.json"],
                      ["report", "locked/in/r.jsonl"], ["quantize", "locked/in/x.npy"], ["hardware", "locked/in/x.json"],
                      ["reproduce", str(REPOSITORY / "experiments" / "studies" / "published" / "mscclpp"), "-o", "locked/in/out"]):
            check_refused(place.run(*words, before=before), "locked", "Permission denied")
    finally:
        (place.folder / "locked").chmod(0o755)


@fault("the current folder has been removed")
def current_folder_gone(place: Place) -> None:
    (place.folder / "gone").mkdir()
    write_sweep(place)
    leave = ["sh", "-c", 'cd gone && rmdir ../gone && exec "$@"', "sh"]
    for words in (["run", "config.json"], ["sweep", "../sweep.json"], ["topology", "--slice", "4x2", "--svg", "a.svg"],
                  ["sweep", str(place.folder / "sweep.json")]):
        (place.folder / "gone").mkdir(exist_ok=True)
        check_refused(place.run(*words, before=leave))


@fault("entries of the results folder are not files")
def odd_results(place: Place) -> None:
    sweep = {"base": json.loads((place.folder / place.config()).read_text()),
             "axes": [{"key": "/tensor/bytes", "values": ["16 KiB"]}]}
    (place.folder / "sweep.json").write_text(json.dumps(sweep))
    for name in ("results.jsonl", "results.csv", "lock"):
        out = place.folder / f"with {name}"
        out.mkdir()
        (out / name).mkdir()
        check_refused(place.run("sweep", "sweep.json", "-o", out.name), name if name != "lock" else out.name)
