"""Paths that lead elsewhere: links, circles, pipes, devices, folders."""
import json
import os
import threading

from killed_commands import write_sweep
from program import REPOSITORY, Place, as_another_user, check, check_done, check_refused
from registry import fault


def writing_commands(place: Place) -> list[list[str]]:
    """Each that writes one file, quickly; the file comes last."""
    config = place.config()
    return [["run", config, "--trace"], ["tune", config, "-o"], ["topology", "--slice", "4x2", "--svg"],
            ["export", "msccl", config, "-o"]]


@fault("an output is a link to what is not there yet")
def dangling_output(place: Place) -> None:
    for words in writing_commands(place):
        link, target = place.folder / f"{words[0]} link", place.folder / f"{words[0]} target"
        link.symlink_to(target.name)
        check_done(place.run(*words, link.name))
        check(link.is_symlink() and target.is_file(), f"{words[0]}: the link was replaced, and not what it names")


@fault("an output is a circle of links")
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


@fault("an input is no file")
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


@fault("a configuration comes out of a pipe")
def named_pipe(place: Place) -> None:
    config = place.config()
    os.mkfifo(place.folder / "pipe")
    writer = threading.Thread(target=lambda: (place.folder / "pipe").write_bytes((place.folder / config).read_bytes()))
    writer.start()
    piped = place.run("run", "pipe")
    writer.join()
    check_done(piped)
    check(piped.out == place.run("run", config).out, "the result is another one")
    given = place.run("run", "/dev/stdin", given=(place.folder / config).read_bytes())
    check(given.out == piped.out, "the result of /dev/stdin is another one")


@fault("the folder of results is a link")
def linked_folder(place: Place) -> None:
    sweep = {"base": json.loads((place.folder / place.config()).read_text()),
             "axes": [{"key": "/tensor/bytes", "values": ["16 KiB"]}]}
    (place.folder / "sweep.json").write_text(json.dumps(sweep))
    (place.folder / "there").mkdir()
    (place.folder / "link").symlink_to("there")
    check_done(place.run("sweep", "sweep.json", "-o", "link"))
    check((place.folder / "there" / "results.csv").is_file(), "the results are not where the link leads")
    (place.folder / "nowhere").symlink_to("nothing")
    check_refused(place.run("sweep", "sweep.json", "-o", "nowhere"), "nowhere")


@fault("a folder that nobody may look into")
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
                      ["reproduce", str(REPOSITORY / "experiments" / "published" / "mscclpp"), "-o", "locked/in/out"]):
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


@fault("what is in the folder of results is no file")
def odd_results(place: Place) -> None:
    sweep = {"base": json.loads((place.folder / place.config()).read_text()),
             "axes": [{"key": "/tensor/bytes", "values": ["16 KiB"]}]}
    (place.folder / "sweep.json").write_text(json.dumps(sweep))
    for name in ("results.jsonl", "results.csv", "lock"):
        out = place.folder / f"with {name}"
        out.mkdir()
        (out / name).mkdir()
        check_refused(place.run("sweep", "sweep.json", "-o", out.name), name if name != "lock" else out.name)
