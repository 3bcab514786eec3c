"""Names and labels with a special meaning elsewhere: control characters, markup, paths, formulas."""
import csv
import html.parser
import io
import json
import os
import pty
import re
import xml.etree.ElementTree

from program import SMALL, Place, check, check_done, check_refused, names_in
from registry import fault

CONTROLS = ("a\x1b[31mb", "a\x7fb", "a\nb", "a\rb", "a\u009b31mb", "a\u0085b")
MARKUP = ("<img src=x onerror=alert(1)>", "</script><script>alert(1)</script>", "<!--", "]]>", "a\u2028b", "\"'`",
          "$\\alpha_{$", "{{data}}", "%s%n{}", "../../evil", "=cmd|'/C calc'!A0", "@SUM(A1)", "|a|b|")
SHOWN_CONTROL = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]")


def with_label(label: str) -> list:
    return [SMALL["collectives"][0], SMALL["collectives"][1] | {"label": label}]


@fault("control characters in a label")
def control_label(place: Place) -> None:
    for label in CONTROLS:
        done = place.run("run", place.config(collectives=with_label(label)))
        check_refused(done, "/collectives/1/label", "control characters")
        check(not SHOWN_CONTROL.search(done.err), f"they are printed: {done.err!r}")


@fault("control characters in names of files")
def control_names(place: Place) -> None:
    for name in ("n\x1b[31m.json", "n\u009b31m.json", "n\nb.json", b"n\xff.json".decode(errors="surrogateescape")):
        place.config(name)
        for words in (["run", f"no {name}"], ["run", name, "--trace-run", name, "--trace", "x"], ["report", name],
                      ["sweep", name], ["run", f"--{name}"], [name], ["quantize", name], ["compare", name, name],
                      ["import", "hlo", name], ["run", name, "--set", f"/hardware={name}"],
                      ["run", name, "--output-tensors", name]):
            done = place.run(*words)
            check_refused(done)
            check(not SHOWN_CONTROL.search(done.err.rstrip(b"\n")), f"{words[0]}: they are printed: {done.err!r}")


def shown_on_terminal(place: Place, *words: str) -> bytes:
    ours, theirs = pty.openpty()
    child = place.start(*words, stdout=theirs, stderr=theirs)
    os.close(theirs)
    seen = b""
    try:
        while block := os.read(ours, 4096):
            seen += block
    except OSError:  # its other end is closed
        pass
    os.close(ours)
    child.communicate()
    check(child.returncode == 0, f"exit code {child.returncode}: {seen!r}")
    return seen


@fault("control characters on a terminal")
def control_terminal(place: Place) -> None:
    name = "n\x1b]0;title\x07\u009b31m.json"
    place.config(name)
    for words in (["validate", name], ["config", "new", "collective", "-o", f"new {name}"]):
        seen = shown_on_terminal(place, *words)
        check(name[-5:].encode() in seen and not SHOWN_CONTROL.search(seen.replace(b"\r\n", b"\n")),
              f"{words[0]}: they are printed: {seen!r}")


class Tags(html.parser.HTMLParser):
    """The elements of a page, except those in its scripts."""

    def __init__(self, page: str):
        super().__init__()
        self.tags: dict[str, int] = {}
        self.handlers: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags[tag] = self.tags.get(tag, 0) + 1
        self.handlers += [name for name, _ in attrs if name.startswith("on")]


@fault("markup in labels and titles")
def markup(place: Place) -> None:
    plain = None
    for number, label in enumerate(("plain", *MARKUP)):
        config = place.config(collectives=with_label(label))
        result = place.run("run", config, "--json", "--links")
        check_done(result)
        check(json.loads(result.out)["runs"][1]["label"] == label, f"{label!r}: JSON has another label")
        (place.folder / "result.json").write_bytes(result.out)
        check_done(place.run("report", "result.json", "-o", "page.html", "--title", label))
        page = (place.folder / "page.html").read_text()
        tags = Tags(page)
        plain = plain or tags.tags
        check(tags.tags == plain and not tags.handlers, f"{label!r}: the page has other elements: {tags.tags}")
        if number % 5:
            continue  # files take longer
        check_done(place.run("run", config, "--trace", "trace.json"))
        json.loads((place.folder / "trace.json").read_text())
        check_done(place.run("run", config, "--output-tensors", f"tensors{number}/deep"))
        found = names_in(place.folder / f"tensors{number}")
        check(len(found) == 3 and all(name.startswith("deep/") for name in found), f"{label!r}: tensors are in {found}")


@fault("markup in names of files of results")
def markup_in_names(place: Place) -> None:
    result = place.run("run", place.config(), "--json").out
    (place.folder / "plain.json").write_bytes(result)
    check_done(place.run("report", "plain.json", "-o", "plain.html"))
    plain = Tags((place.folder / "plain.html").read_text())
    for name in ("<img src=x onerror=alert(1)>.json", "'\" onload=alert(1).json", "<!--.json", "a\u2028b.json"):
        (place.folder / name).write_bytes(result[:-3] if name == "<!--.json" else result)
        done = place.run("report", name, "-o", "page.html")
        if done.code != 0:
            check_refused(done)  # the truncated one
            continue
        page = Tags((place.folder / "page.html").read_text())
        check(page.tags == plain.tags and not page.handlers, f"{name!r}: the page has other elements: {page.tags}")


@fault("markup and formulas in tables of results")
def tables(place: Place) -> None:
    labels = [label for label in MARKUP]
    sweep = {"base": SMALL, "axes": [{"key": "/collectives/1/label", "values": labels}]}
    (place.folder / "sweep.json").write_text(json.dumps(sweep))
    check_done(place.run("sweep", "sweep.json", "-o", "out"))
    rows = list(csv.DictReader(io.StringIO((place.folder / "out" / "results.csv").read_text(), newline="")))
    # Unchanged: spreadsheet users must import such columns as text (SECURITY.md).
    check([row["label"] for row in rows if row["label"] != "bf16"] == labels, "results.csv has other labels")
    check_done(place.run("report", "out/results.jsonl", "-o", "page.html"))
    check("img" not in Tags((place.folder / "page.html").read_text()).tags, "a label became an image")


@fault("markup in names of chips of a graph")
def graph_names(place: Place) -> None:
    names = ["<script>alert(1)</script>", "\"'&amp;<", "]]>", "a\u2028b"]
    graph = {"chips": names, "links": [{"between": [names[i], names[(i + 1) % 4]]} for i in range(4)]}
    (place.folder / "graph.json").write_text(json.dumps(graph))
    done = place.run("topology", "--file", "graph.json", "--svg", "graph.svg")
    if done.code == 0:
        root = xml.etree.ElementTree.fromstring((place.folder / "graph.svg").read_text())
        check(not [node for node in root.iter() if node.tag.endswith("script")], "a name became a script")
    else:
        check_refused(done)
