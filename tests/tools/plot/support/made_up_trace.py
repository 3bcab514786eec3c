"""A small made-up trace, for tests of the picture of pipelines."""
import json
import pathlib

CHIPS = ["(0,0)", "(0,1)"]
LINKS_PID = 3
ALL_CORE = ["find scales", "encode scales", "send", "quantize", "idle", "wait", "accumulate", "add", "reduce",
            "dequantize", "store", "barrier", "cast", "cast back", "other work", "startup"]
OF_NO_TILE = {"idle": {"waits_for": "something"}, "other work": {}, "startup": {}}


def place(phase: str, microshard: int) -> dict:
    """The arguments of a slice."""
    return {"phase": phase, "segment": 0, "shard": 1, "minishard": 0, "microshard": microshard, "bytes": 64,
            "channel": "forward"}


def events(representatives: bool, other_work: bool) -> list[dict]:
    """Two chips with each kind of slice once, which send to each other."""
    made = []
    for pid, chip in enumerate(CHIPS, 1):
        made.append({"ph": "M", "name": "thread_name", "pid": pid, "tid": 1, "args": {"name": "core"}})
        for at, name in enumerate(ALL_CORE):
            if name == "other work" and not other_work:
                continue
            args = OF_NO_TILE.get(name, place("ReduceScatter" if at < 7 else "AllGather", at))
            made.append({"ph": "X", "name": name, "cat": "idle" if name == "idle" else "core", "pid": pid, "tid": 1,
                         "ts": float(at), "dur": 1.0, "args": args})
        other = CHIPS[2 - pid]
        name = f"representative {pid - 1}, forward" if representatives else f"{chip}->{other}"
        made.append({"ph": "M", "name": "thread_name", "pid": LINKS_PID, "tid": pid, "args": {"name": name}})
        for at, content in ((2.5, "scales"), (4.0, "payload")):
            args = place("ReduceScatter", 0) | {"from": chip, "to": other, "synchronisation_us": 0.25}
            made.append({"ph": "X", "name": content, "cat": "link", "pid": LINKS_PID, "tid": pid, "ts": at, "dur": 1.5,
                         "args": args})
    return made


def write(path: pathlib.Path, labels: list[str], representatives: bool = False, other_work: bool = True,
          **changes) -> None:
    """A file with a group for each label, which share their processes; `changes`: of its description."""
    runs = [{"label": label, "algorithm": "ring", "time_s": 16e-6, "chips_of_collective": 2,
             "representatives": representatives, "links_pid": LINKS_PID,
             "chips": [{"pid": pid, "name": name} for pid, name in enumerate(CHIPS, 1)]} for label in labels]
    other = {"program": "equarx-sim", "version": "9.8.7", "config_hash": "0123456789abcdef", "runs": runs,
             "config": {"hardware": "tpu-v5e", "topology": {"slice": "2x1"},
                        "tensor": {"bytes": "1 MiB", "dtype": "bf16"}}, **changes}
    lines = ",\n".join(json.dumps(event, separators=(",", ":")) for event in events(representatives, other_work))
    path.write_text('{"displayTimeUnit": "ns", "traceEvents": [\n' + lines + "\n],\n" +
                    f'"otherData": {json.dumps(other)}}}\n', encoding="utf-8")
