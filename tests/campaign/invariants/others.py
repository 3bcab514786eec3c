"""Invariants of the commands other than `run`."""
import collections
import copy
import itertools
import json
import math

import numpy

import files
import program
from desk import Desk
from invariants import oracle, results
from invariants.results import expect, near
from make import topologies

MOST_CHIPS_TO_TUNE = 8
LARGE_TENSOR = 1 << 23  # elements


def malformed(desk: Desk, content: dict, _draw) -> None:
    """Any malformed input gives a result or one line, the same from every command."""
    validated = desk.of("validate", content["config"])
    shown = desk.of("show", content["config"])
    if shown.refused:
        expect(validated.refused, "malformed", "show refuses it, but validate does not")
        return
    if validated.refused:
        return
    # The values of large tensors on many chips take minutes.
    tensor = program.parse(shown.out).get("tensor", {})
    large = "GiB" in str(tensor.get("bytes")) or math.prod(tensor.get("shape", [])) > LARGE_TENSOR
    flags = ("--set", "/numerics=off") if large and '"numerics"' in shown.out else ()
    ran = desk.of("run", content["config"], "--json", *flags)
    expect(not ran.refused, "malformed", f"valid, but run fails: {ran.err}")
    result = program.parse(ran.out)
    if "runs" in result:
        results.of_result(result)


def hardware(desk: Desk, _content: dict, _draw) -> None:
    """A chip printed as a file is read back as the same chip."""
    first = desk.ask("hardware", "./chip.json", "--json")
    desk.ask("hardware", "./chip.json")
    if first.refused:
        return
    (desk.folder / "again.json").write_text(first.out, encoding="utf-8")
    second = desk.ask("hardware", "./again.json", "--json")
    expect(second.out == first.out, "hardware", f"the printed chip differs from the original: {second.err}")


def distances(chips: list[str], cables: list[tuple]) -> dict:
    near_by = collections.defaultdict(list)
    for a, b in cables:
        near_by[a].append(b)
        near_by[b].append(a)
    found = {}
    for start in chips:
        hops = {start: 0}
        queue = collections.deque([start])
        while queue:
            chip = queue.popleft()
            for other in near_by[chip]:
                if other not in hops:
                    hops[other] = hops[chip] + 1
                    queue.append(other)
        found[start] = hops
    return found


def cables_of(topology: dict, made: dict) -> list[tuple]:
    """All links, wraparound links included, from the answer's own axes."""
    if "file" in topology:
        return [tuple(map(str, link["between"])) for link in made[topology["file"]]["links"]]
    if "fully-connected" in topology:
        return list(itertools.combinations(map(str, range(topology["fully-connected"])), 2))
    return []


def grid_cables(axes: list[dict]) -> list[tuple]:
    found = []
    for chip in itertools.product(*(range(axis["length"]) for axis in axes)):
        for i, axis in enumerate(axes):
            place = chip[i] + 1
            if place == axis["length"]:
                if not axis["wraparound"] or axis["length"] <= 2:
                    continue
                place = 0
            found.append((chip, (*chip[:i], place, *chip[i + 1:])))
    return [tuple("(" + ",".join(map(str, chip)) + ")" for chip in pair) for pair in found]


def topology(desk: Desk, content: dict, _draw) -> None:
    """Distances by breadth-first search, and a ring along links through all chips."""
    (desk.folder / "config.json").write_text(json.dumps(content["config"]), encoding="utf-8")
    answer = desk.ask("topology", "config.json", "--json")
    desk.ask("topology", "config.json")
    if answer.refused:
        return
    found = program.parse(answer.out)
    asked = content["config"]["topology"]
    if "switch" in asked:
        expect(found["cables"] == asked["switch"] and found["diameter_hops"] == 2, "topology", "a switch is no star")
        return
    cables = cables_of(asked, content["files"]) or grid_cables(found.get("axes", []))
    chips = sorted({chip for cable in cables for chip in cable})
    if not cables:
        return
    expect(found["cables"] == len(cables), "topology", f"{found['cables']} links instead of {len(cables)}")
    if len(chips) > 1:
        hops = distances(chips, cables)
        every = [hops[a][b] for a in chips for b in chips if a != b]
        expect(found["diameter_hops"] == max(every), "topology",
               f"diameter {found['diameter_hops']} instead of {max(every)}")
        mean = sum(every) / len(every)
        expect(near(found["average_distance_hops"], mean), "topology",
               f"average distance {found['average_distance_hops']} instead of {mean}")
    ring = found["ring"]
    if ring["outcome"] == "found" and len(chips) > 1:
        along = ring["chips"]
        joined = {frozenset(cable) for cable in cables} - {frozenset(map(str, pair)) for pair in asked.get("avoid", [])}
        expect(sorted(along) == chips, "topology", "the ring misses chips")
        expect(all(frozenset(pair) in joined for pair in zip(along, along[1:] + along[:1])), "topology",
               "the ring uses missing links")


def tune(desk: Desk, content: dict, _draw) -> None:
    """The front is a Pareto front, and running the best candidate gives its result."""
    answer = desk.of("tune", content["config"], "--json", *content["flags"], "-o", "best.json")
    if answer.refused:
        return
    found = program.parse(answer.out)
    front = found["front"]
    for one, other in itertools.combinations(front, 2):
        beats = one["time_s"] <= other["time_s"] and (one["nmse"] or 0) <= (other["nmse"] or 0) and (
            (one["time_s"], one["nmse"]) != (other["time_s"], other["nmse"]))
        expect(not beats, "front", f"{one['label']} beats {other['label']}")
    best = json.loads((desk.folder / "best.json").read_text(encoding="utf-8"))
    ran = desk.result(best | {"numerics": "off", "engine": "direct"})
    expect(ran is not None, "tune", "the best is refused by run")
    best_s = front[found["best"]]["time_s"]
    expect(any(near(run["time_s"], best_s, 1e-6, 1e-11) for run in ran["runs"]), "tune",
           f"the best takes {best_s} s, but run has {[run['time_s'] for run in ran['runs']]}")


def tune_step(desk: Desk, content: dict, _draw) -> None:
    """The best variant of a step is no slower than the baseline, and can be run."""
    answer = desk.of("tune", content["config"], "--json", *content["flags"], "-o", "best.json")
    if answer.refused:
        return
    program.parse(answer.out)
    plain = desk.result(content["config"])
    best = desk.result(json.loads((desk.folder / "best.json").read_text(encoding="utf-8")))
    expect(plain is not None and best is not None, "tune", "run refuses the step or the best of it")
    fastest = min(variant["time_s"] for variant in best["runs"])
    expect(fastest <= plain["runs"][0]["time_s"] * (1.0 + 1e-9), "tune",
           f"the best takes {fastest} s, the baseline {plain['runs'][0]['time_s']} s")


def extras(desk: Desk, content: dict, draw) -> None:
    """Options for uncertainty and sensitivity do not change times."""
    config = copy.deepcopy(content["config"]) | {"uncertainty": {"samples": 10}}
    flag = draw.choice(["--sensitivity", "--uncertainty"])
    plain, more = desk.result(config), desk.result(config, flag)
    if plain is None:
        return
    expect(more is not None, "extras", f"{flag} is refused where the configuration is not")
    results.of_result(more)
    expect([run["time_s"] for run in plain["runs"]] == [run["time_s"] for run in more["runs"]], "extras",
           f"{flag} changes times")


def sweep(desk: Desk, content: dict, _draw) -> None:
    """Every combination has a line that equals the result of `run`; a second sweep computes
    nothing."""
    (desk.folder / "sweep.json").write_text(json.dumps(content["config"]), encoding="utf-8")
    answer = desk.ask("sweep", "sweep.json", "-o", "out", "-j", "1", allowed_failure=True)
    if answer.refused:
        return
    path = desk.folder / "out" / "results.jsonl"
    lines = [program.parse(line) for line in path.read_text(encoding="utf-8").splitlines()]
    if answer.code == 1:
        expect(any("error" in line for line in lines), "sweep", f"exit code 1 without an error: {answer.err[:300]}")
        return
    line = lines[0]
    ran = desk.result(line["config"])
    expect(ran is not None, "sweep", "run refuses a point")
    expect(any(near(run["time_s"] or 0.0, line["run"]["time_s"] or 0.0, 1e-6, 1e-11) for run in ran["runs"]), "sweep",
           "run has a different time")
    before = path.read_text(encoding="utf-8")
    again = program.check(program.ask(desk.program, ["sweep", "sweep.json", "-o", "out", "-j", "1"], desk.folder))
    expect(again.code == 0 and path.read_text(encoding="utf-8") == before, "sweep",
           "a repeated sweep computes something")


def calibrate(desk: Desk, content: dict, _draw) -> None:
    (desk.folder / "measured.json").write_text(json.dumps(content["config"]), encoding="utf-8")
    answer = desk.ask("calibrate", "measured.json", "--json", "-o", "fitted.json")
    if answer.refused:
        return
    program.parse(answer.out)
    shown = desk.ask("hardware", "./fitted.json", "--json")
    expect(shown.code == 0, "calibrate", f"its hardware file is refused: {shown.err}")


def calibrate_known(desk: Desk, content: dict, draw) -> None:
    """Calibration to the simulated times of a known chip reproduces these times."""
    made = copy.deepcopy(content["config"])
    factor = draw.uniform(0.5, 2.0)
    from make import chips
    known: dict = {"based_on": "tpu-v5e"}
    for parameter in made["fit"]:
        known[parameter] = chips.scaled(chips.value_of("tpu-v5e", parameter), parameter, min(factor, 1.0)
                                        if parameter == "link_efficiency" else factor)
    for one in made["measurements"]:
        one.pop("metric", None)
        # Automatically chosen tilings would change along with the parameters.
        one["config"]["collectives"][0] |= {"minishards": 1, "microshards": 1}
        config = copy.deepcopy(one["config"]) | {"hardware": known, "engine": "direct"}
        if "set" in one:
            config["tensor"]["bytes"] = one["set"]["/tensor/bytes"]
        found = desk.result(config)
        if found is None:
            return
        seconds = found["runs"][0]["time_s"]
        one["measured"], one["standard_error"] = f"{seconds!r} s", f"{seconds / 1000!r} s"
    (desk.folder / "known.json").write_text(json.dumps(made), encoding="utf-8")
    answer = desk.ask("calibrate", "known.json", "--json")
    if answer.refused:
        return
    found = program.parse(answer.out)
    chi = found.get("chi_squared", 0.0)
    expect(chi is None or chi <= 1.0, "calibrate", f"chi^2 {chi} of measurements without error")


def quantize(desk: Desk, content: dict, _draw) -> None:
    """One quantization, compared with NumPy for int8 in blocks."""
    flags = content["flags"]
    arguments = [text for pair in flags.items() for text in pair]
    answer = desk.ask("quantize", "tensor.npy", *arguments, "-o", "out.npy")
    made = content["files"]["tensor.npy"]["npy"]
    if answer.refused or flags.get("--layout") != "contiguous" or made["malformed"] or flags["--format"] != "int8":
        return
    values = files.tensor(made)
    values = (values.astype("<u4") << 16).view("<f4") if made["dtype"] == "bf16" else values.astype("<f4")
    if not numpy.isfinite(values).all():
        return
    found = numpy.load(desk.folder / "out.npy")
    expected = oracle.quantized(values, int(flags["--block"]))
    wrong = int((found != expected).sum())
    expect(wrong == 0, "quantize", f"{wrong} of {values.size} elements differ from the oracle")


def schedule(desk: Desk, content: dict, _draw) -> None:
    """An exported schedule is valid, and can be imported again."""
    exported = desk.ask("export", "msccl", "-", "-o", "schedule.xml",
                                                                           stdin=json.dumps(content["config"]))
    if exported.refused:
        return
    checked = desk.ask("import", "msccl", "schedule.xml", "--only-check")
    expect(checked.code == 0, "schedule", f"its own schedule is refused: {checked.err}")
    kind, value = next(iter(content["config"]["topology"].items()))
    timed = desk.ask("import", "msccl", "schedule.xml", "--topology", f"{kind}:{value}", "--bytes",
                     str(content["bytes"]) + " B", "--json")
    if not timed.refused:
        program.parse(timed.out)


def malformed_schedule(desk: Desk, content: dict, _draw) -> None:
    desk.ask("import", "msccl", "schedule.xml", "--only-check")
    desk.ask("import", "msccl", "schedule.xml", "--topology", "fully-connected:2", "--json")


def hlo(desk: Desk, content: dict, _draw) -> None:
    """An imported program becomes a step that `run` accepts."""
    read = desk.ask("import", "hlo", "program.txt", *content["flags"], "--only-read")
    answer = desk.ask("import", "hlo", "program.txt", *content["flags"], "--json")
    if answer.refused:
        return
    expect(read.code == 0, "hlo", f"can be simulated, but not read: {read.err}")
    program.parse(answer.out)
    made = desk.ask("import", "hlo", "program.txt", *content["flags"], "-o", "-")
    expect(made.code == 0, "hlo", made.err)
    config = program.parse(made.out)
    expect(desk.result(config) is not None, "hlo", "run refuses the step that import makes")


def traces(desk: Desk, content: dict, _draw) -> None:
    """A step exported as Chakra traces can be imported again."""
    exported = desk.ask("export", "chakra", "-", "-o", "out", stdin=json.dumps(content["config"]))
    if exported.refused:
        return
    flags = ["--topology", json.dumps(content["config"]["topology"])]
    if (desk.folder / "out.groups.json").exists():
        flags += ["--groups", "out.groups.json"]
    desk.ask("import", "chakra", "out", *flags, "--recorded-times", "--json")


def advise(desk: Desk, content: dict, _draw) -> None:
    """Only for machines on which hundreds of candidates are evaluated quickly."""
    topology = content["config"]["topology"]
    if "hbm" in content["config"].values() or "network" in topology:
        return
    if topologies.chips_of(topology, content.get("files", {})) <= MOST_CHIPS_TO_TUNE:
        desk.of("advise", content["config"] | {"engine": "auto"})  # SimGrid would take minutes


def pages(desk: Desk, content: dict, _draw) -> None:
    """A result can be compared with itself, and shown on a page."""
    answer = desk.of("run", content["config"], "--json")
    if answer.refused:
        return
    (desk.folder / "result.json").write_text(answer.out, encoding="utf-8")
    compared = desk.ask("compare", "result.json", "result.json")
    expect(compared.code == 0, "pages", f"compare: {compared.err}")
    page = desk.ask("report", "result.json", "-o", "page.html")
    expect(page.code == 0 and (desk.folder / "page.html").exists(), "pages", f"report: {page.err}")
    trace = desk.of("run", content["config"], "--trace", "trace.json")
    if "the trace would have" in trace.err:  # more events than a viewer opens
        return
    expect(trace.code == 0, "pages", f"run --trace: {trace.err}")
    program.parse((desk.folder / "trace.json").read_text(encoding="utf-8"))


def malformed_sweep(desk: Desk, content: dict, _draw) -> None:
    (desk.folder / "sweep.json").write_text(json.dumps(content["config"]), encoding="utf-8")
    looked_at = desk.ask("sweep", "sweep.json", "-o", "out", "--dry-run")
    if looked_at.refused:
        ran = desk.ask("sweep", "sweep.json", "-o", "out", "-j", "1", allowed_failure=True)
        expect(ran.refused, "sweep", f"a dry run refuses it, but a run does not: {looked_at.err}")


def malformed_calibration(desk: Desk, content: dict, _draw) -> None:
    (desk.folder / "measured.json").write_text(json.dumps(content["config"]), encoding="utf-8")
    desk.ask("calibrate", "measured.json")
