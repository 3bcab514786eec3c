"""A made-up result of a step, for tests of pictures."""


def result(groups: int = 0) -> dict:
    """Two variants of a forward and a backward task with a bucket, and that many further groups of tasks."""
    return {"version": "1.2.3", "config_hash": "0123456789abcdef",
            "config": {"hardware": "tpu-v5e", "topology": {"slice": "4x4"},
                       "mesh": {"data": {"length": 4, "axes": [0]}, "tensor": {"length": 4, "axes": [1]}}},
            "variants": [_variant("bf16", 3e-3, groups), _variant("int8", 2.5e-3, groups)]}


def _variant(label: str, time_s: float, groups: int) -> dict:
    tasks = [("bucket", "bucket", "data", 1e-3, time_s), ("forward", "forward", "core", 0.0, 1e-3),
             ("backward", "backward", "core", 1e-3, 2e-3),
             *((f"more {number}", f"more {number}", "host", 0.0, 1e-3) for number in range(groups))]
    kinds = {"forward": "computation", "backward": "computation", "bucket": "collective"}
    return {"label": label, "time_s": time_s, "exposed_s": time_s - 2e-3, "calibrated": True,
            "groups": [{"group": group, "kind": kinds.get(group, "host")} for _, group, *_ in tasks],
            "critical_path": ["forward", "bucket"],
            "tasks": [{"name": name, "group": group, "stream": stream, "start_s": start, "end_s": end}
                      for name, group, stream, start, end in tasks]}
