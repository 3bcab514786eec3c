"""XLA programs as HLO text: matmuls, collectives over groups, loops, and occasional malformed ones."""
from draw import Draw

GROUPS = {4: ["{{0,1,2,3}}", "{{0,1},{2,3}}", "{{0,2},{1,3}}", "[1,4]<=[4]", "[2,2]<=[2,2]T(1,0)", "{}"],
          8: ["{{0,1,2,3,4,5,6,7}}", "{{0,1,2,3},{4,5,6,7}}", "[2,4]<=[8]", "[4,2]<=[2,4]T(1,0)",
              "{{0,4},{1,5},{2,6},{3,7}}"]}


def collective(draw: Draw, name: str, operand: str, rows: int, chips: int) -> str:
    """An instruction with as many rows as its operand."""
    groups = draw.choice(GROUPS[chips])
    shape = f"bf16[{rows},64]{{1,0}}"
    what, also = draw.choice([
        ("all-reduce", f"channel_id=1, replica_groups={groups}, use_global_device_ids=true, to_apply=%add"),
        ("collective-permute", "channel_id=2, source_target_pairs={{0,1},{1,2},{2,3},{3,0}}"),
        ("all-to-all", f"channel_id=3, replica_groups={groups}, dimensions={{0}}"),
        ("dot", "lhs_contracting_dims={1}, rhs_contracting_dims={0}")])
    operands = f"{shape} %{operand}" + (", bf16[64,64]{1,0} %w" if what == "dot" else "")
    return f"  %{name} = {shape} {what}({operands}), {also}"


def text(draw: Draw, chips: int) -> str:
    rows = draw.choice([64, 512, 2048])
    lines = ["HloModule drawn, is_scheduled=true, num_partitions=" + str(chips), "",
             "%add (x: bf16[], y: bf16[]) -> bf16[] {", "  %x = bf16[] parameter(0)", "  %y = bf16[] parameter(1)",
             "  ROOT %s = bf16[] add(bf16[] %x, bf16[] %y)", "}", "",
             f"ENTRY %main (p: bf16[{rows},64], w: bf16[64,64]) -> bf16[{rows},64] {{",
             f"  %p = bf16[{rows},64]{{1,0}} parameter(0)", "  %w = bf16[64,64]{1,0} parameter(1)"]
    last = "p"
    for i in range(draw.randint(1, 6)):
        lines.append(collective(draw, f"v{i}", last, rows, chips))
        last = f"v{i}"
    lines += [f"  ROOT %r = bf16[{rows},64]{{1,0}} add(bf16[{rows},64]{{1,0}} %{last}, bf16[{rows},64]{{1,0}} %p)", "}",
              ""]
    return "\n".join(lines)


def corrupt(draw: Draw, made: str) -> str:
    """Drops, duplicates or replaces letters and lines."""
    for _ in range(draw.randint(1, 3)):
        where = draw.randrange(len(made) + 1)
        way = draw.randrange(4)
        if way == 0:
            made = made[:where] + made[where + draw.randint(1, 20):]
        elif way == 1:
            made = made[:where] + draw.choice("{}[](),=%0-9x\n\"") + made[where:]
        elif way == 2:
            lines = made.split("\n")
            del lines[draw.randrange(len(lines))]
            made = "\n".join(lines)
        else:
            made = made.replace(draw.choice(["64", "bf16", "512", "add", "all-reduce", "{{0,1", "<="]),
                                draw.choice(["0", "f32", "99999999999999999999", "-1", "tuple", "", "{{0,0"]), 1)
    return made


def hlo(draw: Draw) -> dict:
    chips = draw.choice([4, 4, 8])
    made = text(draw, chips)
    if draw.chance(0.4):
        made = corrupt(draw, made)
    topology = {4: ["2x2", "ring:4", "fully-connected:4", "torus:4x1"], 8: ["4x2", "ring:8", "torus:2x4",
                                                                            "torus:2x2x2"]}[chips]
    flags = ["--topology", draw.choice(topology)]
    if draw.chance(0.3):
        flags += ["--formats", draw.choice(["int8", "int8,mxfp4", "bf16"])]
    if draw.chance(0.3):
        flags += ["--min-bytes", draw.choice(["0 B", "1 KiB", "1 MiB"])]
    return {"config": {}, "files": {"program.txt": made}, "flags": flags}


def element(tag: str, children: str = "", **attributes: object) -> str:
    text = "".join(f' {name}="{value}"' for name, value in attributes.items())
    return f"<{tag}{text}>{children}</{tag}>"


def step(draw: Draw, number: int) -> str:
    kind = draw.choice(["s", "r", "rrc", "re", "cpy", "nop", "rcs", "x"])
    return element("step", s=number, type=kind, srcbuf="i", srcoff=draw.randint(-1, 3), dstbuf=draw.choice("ios"),
                   dstoff=draw.randint(-1, 3), cnt=draw.choice([0, 1, 1, 2, 2**31, -1]), depid=-1, deps=-1, hasdep=0)


def gpu(draw: Draw, number: int, steps: str) -> str:
    block = element("tb", steps, id=0, send=draw.choice([1 - number, -1]), recv=1 - number, chan=0)
    return element("gpu", block, id=number, i_chunks=2, o_chunks=draw.choice([0, 2]), s_chunks=draw.choice([0, 2, 10**9]))


def malformed_schedule(draw: Draw) -> dict:
    """MSCCL's XML with a change."""
    steps = "".join(step(draw, number) for number in range(draw.randint(0, 3)))
    gpus = "".join(gpu(draw, number, steps) for number in range(2))
    made = element("algo", gpus, name="drawn", proto=draw.choice(["Simple", "LL", "LL128"]), nchannels=1, ngpus=2,
                   coll=draw.choice(["allreduce", "allgather", "custom", "broadcast"]), inplace=1)
    if draw.chance(0.5):
        made = corrupt(draw, made)
    return {"config": {}, "files": {"schedule.xml": made}, "flags": []}
