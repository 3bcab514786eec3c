#!/usr/bin/env python3
"""Writes the seeds of the fuzz targets: small files, good and bad, of each format.

Usage: make_corpus.py DIRECTORY; makes DIRECTORY/npy, DIRECTORY/safetensors, DIRECTORY/hlo and DIRECTORY/chakra.
"""
import json
import pathlib
import struct
import sys

DATA = struct.pack("<6f", 1, -2.5, float("inf"), float("nan"), 1e-40, 0)
# 1, -2.5, the largest, Inf, NaN, the smallest subnormal, -0; of E4M3, which has no Inf, NaN of both signs.
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
    # numpy has no FP8; libraries that add them write raw bytes or names, which are refused.
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
    # FP8 of an odd length leaves the tensor that is read, "a", at an odd place.
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
    """A field of protobuf: bytes, or a whole number."""
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


def main() -> int:
    directory = pathlib.Path(sys.argv[1])
    for kind, seeds in (("npy", NPY), ("safetensors", SAFETENSORS), ("hlo", HLO), ("chakra", CHAKRA)):
        (directory / kind).mkdir(parents=True, exist_ok=True)
        for name, contents in seeds.items():
            (directory / kind / name).write_bytes(contents)
    return 0


if __name__ == "__main__":
    sys.exit(main())
