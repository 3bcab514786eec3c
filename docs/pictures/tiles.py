"""The figure of the tiling of a tensor, with the sizes that the program sends.

The sizes are counted in a trace: each `send` carries one microshard, and its arguments name the
minishard, the shard or chunk, and the segment.
"""
import dataclasses
import json
import pathlib
import subprocess
import tempfile
from xml.sax.saxutils import escape

EXPERIMENT = {
    "hardware": "tpu-v5e",
    "topology": {"slice": "2x2"},
    "tensor": {"shape": [4096, 4096]},
    "collectives": [{"algorithm": "torus", "ring": "semi-loop", "format": "int8",
                     "cuts": "by-size"}],  # finer than the fastest tiling, to show all levels
    "numerics": "off",
    "simulation": "full",
}
BYTES_OF_BF16, BYTES_OF_FP32 = 2, 4
WIDTH, TOP, ROW, BAR = 1080, 78, 92, 40
NAME_X, BAR_X, BAR_WIDTH, TEXT_X = 24, 150, 430, 604
SUBTITLE = "AllReduce by the torus algorithm, semi-loop, int8, on 2x2 chips; blue: the part that the row below cuts"
INK, SOFT, PALE, BLUE = "#222222", "#666666", "#eef2f6", "#a6cee3"


@dataclasses.dataclass(frozen=True)
class Level:
    """One row: the parts that one part of the row above is cut into."""

    name: str
    parts: int
    elements: int
    meaning: str


def sent(program: pathlib.Path) -> list[dict]:
    """The arguments of every `send` of the ReduceScatter on rank 0."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "tiles.json").write_text(json.dumps(EXPERIMENT), encoding="utf-8")
        subprocess.run([program, "run", "tiles.json", "--trace", "trace.json"], cwd=folder, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        events = json.loads((folder / "trace.json").read_text(encoding="utf-8"))["traceEvents"]
    return [event["args"] for event in events if event["name"] == "send" and event["ph"] == "X"
            and event["args"]["phase"] == "ReduceScatter"]


def levels(arguments: list[dict]) -> list[Level]:
    """Sizes and counts of all parts."""
    # int8: one byte per element
    payload = [entry for entry in arguments if entry["content"] == "payload"]
    scales = {entry["bytes"] for entry in arguments if entry["content"] == "scales"}
    one = [entry for entry in payload if entry["segment"] == 0]
    shard = [entry for entry in one if entry.get("shard") == 1]
    owner = next(entry["chunk_of_rank"] for entry in one if "chunk_of_rank" in entry)
    chunk = {(entry["minishard"], entry["microshard"]): entry["bytes"] for entry in one
             if entry.get("chunk_of_rank") == owner}
    pieces = {(entry["minishard"], entry["microshard"]): entry["bytes"] for entry in shard}
    minishards, microshards = (len({piece[at] for piece in pieces}) for at in (0, 1))
    segments = len({entry["segment"] for entry in payload})
    in_shard, in_chunk = sum(pieces.values()), sum(chunk.values())
    tensor = EXPERIMENT["tensor"]["shape"][0] * EXPERIMENT["tensor"]["shape"][1]
    [groups] = {count // BYTES_OF_FP32 for count in scales}
    in_minishard = in_shard // minishards
    in_segment = tensor // segments
    microshard = in_minishard // microshards
    assert set(pieces.values()) == {microshard}
    return [
        Level("tensor", 1, tensor, "what every chip has: 4096 x 4096 numbers"),
        Level("segment", segments, in_segment, "goes its own way: first along axis 0, or first along axis 1"),
        Level("chunk", in_segment // in_chunk, in_chunk, "for the chips at one place along the first axis"),
        Level("shard", in_chunk // in_shard, in_shard, "for one chip: the last chunk, after all axes"),
        Level("minishard", minishards, in_minishard,
              f"has its own scales: {groups:,}, each for {in_minishard // groups} elements"),
        Level("microshard", microshards, microshard, f"is one message: {size(microshard)} of int8"),
    ]


def size(count: int) -> str:
    """Bytes in the largest unit that divides them."""
    for unit, factor in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count % factor == 0:
            return f"{count // factor} {unit}"
    return f"{count} B"


def text(x: float, y: float, words: str, *, bold: bool = False, soft: bool = False, large: bool = False) -> str:
    """A line of text."""
    return (f'<text x="{x:g}" y="{y:g}" font-size="{16 if large else 14}" fill="{SOFT if soft else INK}"'
            f'{" font-weight=" + chr(34) + "bold" + chr(34) if bold else ""}>{escape(words)}</text>')


def row(level: Level, above: str, index: int, is_last: bool) -> list[str]:
    """A level: the bar of the part that it cuts, with its first part filled, and lines to the next
    bar."""
    y = TOP + ROW * index
    part = BAR_WIDTH / level.parts
    made = [f'<rect x="{BAR_X}" y="{y}" width="{BAR_WIDTH}" height="{BAR}" fill="{PALE}"/>',
            f'<rect x="{BAR_X}" y="{y}" width="{part:g}" height="{BAR}" fill="{BLUE}"/>']
    made += [f'<path d="M{BAR_X + part * cut:g} {y}v{BAR}" stroke="{INK}"/>' for cut in range(1, level.parts)]
    made.append(f'<rect x="{BAR_X}" y="{y}" width="{BAR_WIDTH}" height="{BAR}" fill="none" stroke="{INK}"/>')
    if not is_last:
        for start, end in ((0, 0), (part, BAR_WIDTH)):
            made.append(f'<path d="M{BAR_X + start:g} {y + BAR}L{BAR_X + end:g} {y + ROW}" stroke="{SOFT}" '
                        'stroke-dasharray="3 4"/>')
    count = f"{level.parts} in a {above}" if above else "on each chip"
    made += [text(NAME_X, y + 18, level.name, bold=True, large=True), text(NAME_X, y + 37, count, soft=True),
             text(TEXT_X, y + 17, f"{size(level.elements * BYTES_OF_BF16)} of bf16, {level.elements:,} elements"),
             text(TEXT_X, y + 36, level.meaning, soft=True)]
    return made


def figure(program: pathlib.Path) -> str:
    """The figure as SVG."""
    cut = levels(sent(program))
    height = TOP + ROW * len(cut) - 24
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
             f'height="{height}" font-family="Helvetica, Arial, DejaVu Sans, sans-serif">',
             "<title>How a tensor is cut for a collective</title>",
             f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
             text(NAME_X, 32, "How a tensor is cut", bold=True, large=True),
             text(NAME_X, 54, SUBTITLE, soft=True)]
    for index, level in enumerate(cut):
        lines += row(level, cut[index - 1].name if index else "", index, index + 1 == len(cut))
    return "\n".join([*lines, "</svg>", ""])
