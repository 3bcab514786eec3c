#!/usr/bin/env python3
"""Writes seeds for the fuzz targets: small valid and invalid files of each format.

Usage: make_corpus.py DIRECTORY; creates one folder per format, such as DIRECTORY/npy. JSON files are reduced copies of
those in configs/ and experiments/, so that each input is fast; the fuzz targets also read the originals in configs/.
"""
import json
import pathlib
import struct
import sys

DATA = struct.pack("<6f", 1, -2.5, float("inf"), float("nan"), 1e-40, 0)
# 1, -2.5, the largest, Inf, NaN, the smallest subnormal, -0; E4M3 has no Inf, but NaN of both signs.
FP16 = struct.pack("<7H", 0x3C00, 0xC100, 0x7BFF, 0x7C00, 0x7E01, 0x0001, 0x8000)
E4M3 = bytes([0x38, 0xC2, 0x7E, 0x7F, 0xFF, 0x01, 0x80])
E5M2 = bytes([0x3C, 0xC1, 0x7B, 0x7C, 0x7F, 0x01, 0x80])


def npy(descr="'<f4'", order="False", shape="(2, 3)", data=DATA, major=1):
    header = f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n".encode()
    length = struct.pack("<H" if major == 1 else "<I", len(header))
    return b"\x93NUMPY" + bytes([major, 0]) + length + header + data


def safetensors(header, data=DATA):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def tensor(dtype="F32", shape=(2, 3), offsets=(0, 24)):
    return {"dtype": dtype, "shape": shape, "data_offsets": offsets}


NPY = {
    "f4": npy(), "f4_v2": npy(major=2), "f4_v3": npy(major=3),
    "f2": npy("'<f2'", shape="(7,)", data=FP16), "f2_odd": npy("'<f2'", shape="(7,)", data=FP16[:-1]),
    # numpy has no FP8; libraries that add it write raw bytes or type names, which are refused.
    "fp8_bytes": npy("'|V1'", shape="(7,)", data=E4M3), "fp8_name": npy("'float8_e4m3fn'", shape="(7,)", data=E4M3),
    "fp8_u1": npy("'|u1'", shape="(7,)", data=E5M2), "u2": npy("'<u2'", shape="(3, 2, 2)"),
    "big_endian": npy("'>f4'"), "structured": npy("[('a', '<f4')]"), "fortran": npy(order="True"),
    "scalar": npy(shape="()"), "negative": npy(shape="(-1, 6)"),
    "overflow": npy(shape="(4294967296, 4294967296)"), "truncated": npy()[:-5], "empty": b"",
}
SAFETENSORS = {
    "one": safetensors({"a": tensor()}),
    "two": safetensors({"__metadata__": {"format": "pt"}, "a": tensor("F16", (4,), (0, 8)),
                        "b": tensor("BF16", (2, 2, 2), (8, 24))}),
    "fp16": safetensors({"a": tensor("F16", (7,), (0, 14))}, FP16),
    "fp8_e4m3": safetensors({"a": tensor("F8_E4M3", (7,), (0, 7))}, E4M3),
    "fp8_e5m2": safetensors({"a": tensor("F8_E5M2", (7,), (0, 7))}, E5M2),
    # FP8 of an odd length puts the tensor that is read, "a", at an odd offset.
    "mixed": safetensors({"b": tensor("F8_E4M3", (7,), (0, 7)), "a": tensor("F16", (1, 7), (7, 21)),
                          "c": tensor("F8_E5M2", (7, 1), (21, 28))}, E4M3 + FP16 + E5M2),
    "fp8_truncated": safetensors({"a": tensor("F8_E5M2", (7,), (0, 7))}, E5M2[:-1]),
    "fp8_other": safetensors({"a": tensor("F8_E8M0", (7,), (0, 7))}, E4M3),
    "other_type": safetensors({"a": tensor("I64", (3,))}),
    "overlap": safetensors({"a": tensor(), "b": tensor("F32", (1,), (20, 24))}),
    "outside": safetensors({"a": tensor(offsets=(0, 1 << 63))}),
    "mismatch": safetensors({"a": tensor(shape=(7,))}),
    "duplicate": safetensors(b'{"a":{"dtype":"F32","dtype":"F32"}}'),
    "names": safetensors({"../\u001b[2J\n\u009b": tensor()}),
    "truncated": safetensors({"a": tensor()})[:-5], "huge": b"\xff" * 8 + b"{}", "empty": b"",
}


ADD = """%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %c = f32[] add(%a, %b)
}
"""


def hlo(lines, before="", header="is_scheduled=true, num_partitions=8"):
    text = f"HloModule m, {header}\n\n{ADD}{before}ENTRY %main (p: f32[8]) -> f32[8] {{\n  %p = f32[8] parameter(0)\n"
    return (text + "".join(f"  {line}\n" for line in lines) + "}\n").encode()


GROUPS = "channel_id=1, use_global_device_ids=true, replica_groups="
BODY = "%body (x: f32[8]) -> f32[8] {\n  %x = f32[8] parameter(0)\n  ROOT %r = f32[8] all-reduce(%x), to_apply=%add\n}\n"
HLO = {
    "groups": hlo([f"%r{i} = f32[8] all-reduce(%p), to_apply=%add, {GROUPS}{groups}" for i, groups in enumerate(
        ("[2,4]<=[8]", "[4,2]<=[2,4]T(1,0)", "{{0,1},{2,3},{4,5},{6,7}}", "{}", "{{0,3}}", "[8,1]<=[8]",
         "mesh['a'=2,'b'=4] {'b'}", "mesh['x'=8, device_ids=([8]<=[2,4]T(1,0))] {'x':(2)2}"))]),
    "pair": hlo(["%s = (f32[8], f32[64]) all-gather-start(%p), dimensions={0}, replica_groups={}",
                 "%n = f32[8] negate(%p)", "%d = f32[64] all-gather-done(%s)"]),
    "loop": hlo(['%w = f32[8] while(%p), condition=%body, body=%body, '
                 'backend_config={"known_trip_count":{"n":"4"}}'], BODY),
    "branch": hlo(["%i = s32[] constant(0)", "%r = f32[8] conditional(%i, %p, %p), branch_computations={%body, %body}"],
                  BODY),
    "window": hlo(["%x = bf16[2,8,8,3] parameter(1)", "%k = bf16[3,3,3,16] parameter(2)",
                   "%r = bf16[2,4,4,16] convolution(%x, %k), window={size=3x3 stride=2x2 pad=1_1x-1_1 lhs_dilate=1x2}, "
                   "dim_labels=b01f_01io->b01f"]),
    "fusion": hlo(["%r = (f32[8], s32[]) fusion(%p), kind=kLoop, calls=%body"], BODY),
    "custom": hlo(['%r = f32[8] custom-call(%p), custom_call_target="x", '
                   'backend_config={"cost_estimate":{"flops":"5"}}', "%h = f32[8]{0:S(5)} copy(%r)"]),
    "permute": hlo(["%r = f32[8] collective-permute(%p), channel_id=1, source_target_pairs={{0,1},{1,0}}"]),
    "tables": b'HloModule m\n\nFileNames\n1 "a"\n\n%c {\n  ROOT x = (f32[], token[]) tuple()\n}\nENTRY e {\n y = f32[] add()\n}\n',
    "truncated": hlo(["%n = f32[8] negate(%p)"])[:-20], "empty": b"",
}


def varint(value):
    rest = value >> 7
    return bytes([value & 127 | (128 if rest else 0)]) + (varint(rest) if rest else b"")


def field(number, value):
    """A protobuf field: bytes, or an integer as a varint."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def node(identity, kind, after=(), **attributes):
    body = field(1, identity) + field(2, b"n%d" % identity) + field(3, kind) + field(7, 5)
    for other in after:
        body += field(5, other)
    for name, value in attributes.items():
        body += field(10, field(1, name.encode()) + field(13 if isinstance(value, int) else 29, value))
    return body


def trace(*nodes):
    return b"".join(varint(len(body)) + body for body in (field(1, b"0.0.4"), *nodes))


CHAKRA = {
    "step": trace(node(0, 4, num_ops=1000, tensor_size=64), node(1, 7, [0], comm_type=2, comm_size=4096),
                  node(2, 2, [1], tensor_size=8), node(3, 4, [1, 2])),
    "groups": trace(node(1, 1), node(2, 7, [1], comm_type=0, comm_size=64, pg_name=b"1"), node(3, 4)),
    "circle": trace(node(1, 4, [2]), node(2, 4, [1])), "twice": trace(node(1, 4), node(1, 4)),
    "kinds": trace(*(node(kind, kind, comm_type=kind, comm_size=kind, is_cpu_op=kind % 2) for kind in range(11))),
    "cut": trace(node(1, 4))[:-2], "empty": b"",
}


ROOT = pathlib.Path(__file__).parents[2]
CONFIG = {
    "hardware": "tpu-v6e", "topology": {"slice": "2x2"}, "tensor": {"bytes": "4 KiB"}, "numerics": "off",
    "collectives": [{"label": "a", "algorithm": "ring", "format": "bf16"}, {"label": "b", "algorithm": "equarx", "format": "int8"}],
}
MORE_CONFIGS = {
    "changed": {"hardware": {"based_on": "tpu-v6e", "hop_latency": "2 us", "links": 3}, "wire_buffers": "hbm"},
    "faults": {"faults": {"links": [{"between": ["(0,0)", "(1,0)"], "bandwidth_factor": 0.5, "extra_latency": "1 us"}],
                          "chips": [{"chip": "(1,1)", "slowdown": 2}]}},
    "slices": {"topology": {"torus": "2x2", "network": {"slices": 2, "bandwidth": "12.5 GB/s", "latency": "10 us"}},
               "collectives": [{"label": "a", "algorithm": "auto", "format": "int8"}]},
    "switch": {"topology": {"fully-connected": 4}, "collective": "all-to-all", "tensor": {"shape": [4, 8], "dtype": "fp32"},
               "collectives": [{"label": "a", "algorithm": "auto", "format": "fp8-e4m3", "elements_per_scale": 32}]},
    "mesh": {"topology": {"mesh": "2x3", "avoid": [["(0,0)", "(1,0)"]]}, "uncertainty": {"samples": 10, "seed": 2},
             "tensor": {"bytes": 4096, "sample": 0.5, "values": {"distribution": "heavy-tailed", "ranks": "identical"}}},
}
STEP = {
    "hardware": "tpu-v6e", "topology": {"slice": "2x2"}, "mesh": {"data": 2, "model": 2},
    "step": {"tasks": [
        {"name": "forward {i}", "repeat": 2, "stream": "core", "compute": {"flops": 1e9, "hbm_bytes": "1 MiB"}},
        {"name": "reduce {i}", "repeat": 2, "after": ["forward {i}"],
         "collective": {"kind": "all-reduce", "axes": ["data"], "bytes": "4 KiB"}}]},
    "variants": [{"label": "bf16"}, {"label": "int8", "quantize": [{"where": {"axis": "data"}, "format": "int8"}]}],
}
TRAINED = {**STEP, "mesh": {"fsdp": 4}, "hardware": "tpu-v6e",
           "step": {"training": {"model": "gemma3-12b", "sequence": 128, "batch": 4}}}
RUN = {
    "label": "a", "algorithm": "ring", "time_s": 6.5e-06, "speedup": 1.0, "lower_bound_s": 7e-08, "wire_bytes_per_link": 3072,
    "chips": 4, "calibrated": False, "simulation": "full", "breakdown": {"payload_s": 7e-08}, "numerics": {"mse": 3e-05, "sqnr_db": 51},
    "links": [{"name": "(0,0)->(1,0)", "from": "(0,0)", "to": "(1,0)", "bytes": 3072, "busy_s": 7e-08, "utilisation": 0.01}],
}
RESULT = {
    "program": "equarx-sim", "version": "THIS_VERSION", "config": {**CONFIG, "baseline": "a"}, "config_hash": "0" * 32,
    "parameters": {"links": {"value": 4, "class": "datasheet", "source": "x"}}, "baseline": "a", "runs": [RUN, {**RUN, "label": "b"}],
}
POINT = {"point": 0, "key": "1" * 32, "version": "THIS_VERSION", "base": "2" * 32, "axes": {"/tensor/bytes": "4 KiB"},
         "run": RUN, "config": {**CONFIG, "collectives": CONFIG["collectives"][:1]}}
FAILED = {**{key: POINT[key] for key in ("point", "key", "version", "base", "axes", "config")}, "error": "no"}
STEP_RESULT = {
    "program": "equarx-sim", "version": "THIS_VERSION", "config": STEP, "config_hash": "3" * 32, "baseline": "bf16",
    "variants": [{
        "label": "bf16", "time_s": 1e-3, "speedup": 1.0, "calibrated": True, "critical_path": ["f"],
        "groups": [{"group": "forward", "kind": "computation", "tasks": 1, "total_s": 1e-4}],
        "tasks": [{"name": "f", "group": "forward", "stream": "core", "start_s": 0.0, "end_s": 1e-4},
                  {"name": "r", "group": "reduce", "stream": "data", "start_s": 1e-4, "end_s": 1e-3}],
        "simulation": {"chips": 3, "symmetric": True}}],
}


def text_of(document):
    return json.dumps(document).encode()


def lines_of(*documents):
    return b"".join(text_of(document) + b"\n" for document in documents)


def from_tree(pattern):
    """JSON documents of files without comments, by name."""
    return {str(path.relative_to(ROOT)).replace("/", "_"): json.loads(path.read_text()) for path in sorted(ROOT.glob(pattern))}


def small_chip(chip):
    """A chip without long texts and measurements."""
    parameters = {name: {**parameter, "source": "x"} for name, parameter in chip["parameters"].items()}
    return {**{key: chip[key] for key in ("name", "slices", "matrix_products") if key in chip}, "description": "x",
            "parameters": parameters}


def small_study(study):
    """A study with one experiment, including its configuration, and two of its rows, or with a script."""
    if "script" in study:
        return {**study, "rows": study["rows"][:2]}
    experiment = {**study["experiments"][0], "config": CONFIG}
    rows = [row for row in study["rows"] if row["experiment"] == experiment["name"]][:2]
    return {**study, "source": "x", "notes": ["x"], "experiments": [experiment], "rows": rows}


def small_task(task):
    """A calibration task with its first and last measurements and inline configurations."""
    measurements = [{**measurement, "config": {key: CONFIG[key] for key in ("topology", "tensor", "collectives")}}
                    for measurement in task["measurements"][:3] + task["measurements"][-1:]]
    return {**task, "measurements": measurements}


def of_all(change, documents):
    return {name: text_of(change(document)) for name, document in documents.items()}


SWEEP = {"name": "s", "base": CONFIG, "exclude": [{"/tensor/bytes": "4 KiB", "/topology/slice": "4x4"}],
         "axes": [{"key": "/topology/slice", "values": ["2x2", "4x4"]},
                  {"key": "/tensor/bytes", "log_range": {"from": "4 KiB", "to": "64 KiB", "factor": 4}}]}
ZIPPED = {"base": STEP, "axes": [{"zip": [{"key": "/mesh/data", "values": [2, 4]}, {"key": "/mesh/model", "values": [2, 1]}]},
                                 {"key": "/variants/0/label", "values": ["x"]}]}
RANGED = {"base": CONFIG, "axes": [{"key": "/collectives/1/minishards", "range": {"from": 1, "to": 5, "step": 2}}]}
GRAPH = {"name": "g", "chips": ["a", "b", "c"], "links": [{"between": ["a", "b"], "bandwidth": "10 GB/s", "latency": "1 us"},
                                                          {"between": ["b", "c"]}, {"between": ["c", "a"]}]}
SERVED = {"hardware": "tpu-v5e", "topology": {"slice": "2x4"}, "mesh": {"data": 2, "tensor": 4},
          "serving": {"model": "llama3.1-8b", "kv": "int8-row", "chunks": 2, "quantize": [{"format": "int8"}],
                      "load": {"concurrency": 4, "prompt": {"distribution": "uniform", "most": 9}, "seed": 2,
                               "prefixes": {"count": 3, "tokens": 5, "zipf": 1.5},
                               "output": {"distribution": "lognormal", "mean": 3, "cv": 1, "most": 9}},
                      "scheduler": {"tokens": 64, "policy": "prompts-first", "step_overhead": "1 ms",
                                    "prefix_cache": True},
                      "prefill": {"topology": {"slice": "2x2"}, "bandwidth": "1 GB/s", "latency": "1 us"}}}
JSON = {
    "json": {"set": b'/tensor/bytes\n"32 MiB"', "label": b"/collectives/b/format\nint8", "index": b"/list/1/0\n[1, {}]",
             "chip": b"/hardware/hop_latency\n2 us", "escape": b"/a~1b~0\n1e308", "comments": b'{"a": [1, -0.0, "\\u00e9"]} // x',
             "twice": b'{"a": 1, "a": 2}', "deep": b"[" * 101 + b"]" * 101, "utf": b'"\xff"', "large": b"1e999"},
    "experiment": {"plain": text_of(CONFIG), **{name: text_of({**CONFIG, **keys}) for name, keys in MORE_CONFIGS.items()}},
    "step": {"tasks": text_of(STEP), "training": text_of(TRAINED)},
    "serving": {"apart": text_of(SERVED)},
    "hardware": {**of_all(small_chip, from_tree("configs/hardware/*.json")), "changed": text_of(MORE_CONFIGS["changed"]["hardware"])},
    "graph": {"triangle": text_of(GRAPH), "numbers": text_of({"name": "g", "chips": 2, "links": [{"between": [0, 1]}]})},
    "sweep": {"two": text_of(SWEEP), "zipped": text_of(ZIPPED), "ranged": text_of(RANGED)},
    "study": of_all(small_study, from_tree("experiments/**/study.json")),
    "calibration": of_all(small_task, from_tree("experiments/studies/calibration/*.json")),
    "results": {"run": text_of(RESULT), "step": text_of(STEP_RESULT), "point": lines_of(POINT), "failed": lines_of(FAILED),
                "points": lines_of(POINT, {**POINT, "point": 1, "key": "4" * 32, "axes": {"/tensor/bytes": "8 KiB"}}, FAILED),
                "cut": lines_of(POINT, FAILED)[:-20]},
}


# Seeds of random programs.
WRAPPED = {str(seed): bytes([seed, seed * 7 % 256]) for seed in range(32)}


def main() -> int:
    directory = pathlib.Path(sys.argv[1])
    for kind, seeds in {"npy": NPY, "safetensors": SAFETENSORS, "hlo": HLO, "wrapped": WRAPPED, "chakra": CHAKRA, **JSON}.items():
        (directory / kind).mkdir(parents=True, exist_ok=True)
        for name, contents in seeds.items():
            (directory / kind / name).write_bytes(contents)
    return 0


if __name__ == "__main__":
    sys.exit(main())
