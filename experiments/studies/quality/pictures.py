"""Pictures of the studies, in the style of tools/plot."""
import dataclasses
import io
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "tools" / "plot"))

import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
from PIL import Image  # noqa: E402
from drawing import style  # noqa: E402
from store import write_whole  # noqa: E402

FP32 = 1e-12  # only FP32 is below this NMSE, and it is not drawn
# Suffixes of schemes' names: drawn in the colour of the base scheme, with these lines.
VARIANTS = {", feedback": (0, (1, 4)), ", factor of its code": (0, (4, 4))}
COLOURS = 128  # of a picture
SHOWN = 1e-5  # smaller changes of perplexity, or none, are drawn here


def _begin() -> None:
    """The style of tools/plot; but powers of ten on logarithmic axes are formulas, and all names
    here are trusted."""
    style.use()
    plt.rcParams["text.parse_math"] = True


def _save(figure, folder: pathlib.Path, name: str) -> None:
    drawn = {suffix: io.BytesIO() for suffix in ("png", "svg")}
    for suffix, file in drawn.items():
        figure.savefig(file, format=suffix, dpi=80, metadata={"Date": None} if suffix == "svg" else None)
    plt.close(figure)
    # Overlapping bands have many shades; a palette makes the file a third as large.
    with Image.open(drawn["png"]) as picture:
        few = picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    small = io.BytesIO()
    few.save(small, format="png", optimize=True)
    write_whole(folder / f"{name}.png", small.getvalue())
    write_whole(folder / f"{name}.svg", drawn["svg"].getvalue())
    print(folder / f"{name}.png")


def inference(folder: pathlib.Path, ways: list[dict], rows: list[dict]) -> None:
    """`ways`: means over models of each way and number of ranks; `rows`: of each model, and of single places."""
    _begin()
    places = [row for row in rows if row["only"]]
    widths = (1.6, 1.1, 1) if places else (1.6, 1.1)
    figure, panels = plt.subplots(1, len(widths), figsize=(3.8 * sum(widths), 4.4),
                                  gridspec_kw={"width_ratios": widths})
    _growth_panel(panels[0], ways)
    _ratio_panel(panels[1], [row for row in rows if not row["only"] and row["nmse"] > FP32])
    if places:
        _places_panel(panels[2], places)
    figure.tight_layout()
    _save(figure, folder, "inference")


def _growth_panel(axes, rows: list[dict]) -> None:
    counts = sorted({row["ranks"] for row in rows})
    for (name, look), count in zip(style.looks([f"{count} ranks" for count in counts]).items(), counts):
        some = [row for row in rows if row["ranks"] == count and row["nmse"] > FP32]
        axes.scatter([row["nmse"] for row in some], [max(row["perplexity_change"], SHOWN) * 100 for row in some],
                     color=look.colour, marker=look.marker, s=22, label=name)
        for row in some:
            axes.plot([row["nmse"]] * 2, [max(row[end], SHOWN) * 100 for end in ("change_low", "change_high")],
                      color=look.colour, linewidth=0.8)
    _names(axes, [row for row in rows if row["ranks"] == max(counts)])
    axes.set(xscale="log", yscale="log", xlabel="normalized squared error of a sum (NMSE)",
             ylabel="perplexity grows by, % (bars: 95 %)",
             title="Each point a format and a number of ranks (names: those of the most ranks)")
    axes.legend(fontsize=style.SMALL)
    axes.grid(color=style.PALE)


def _ratio_panel(axes, rows: list[dict]) -> None:
    """Costs divided by the NMSE, of every model."""
    costs = {"KL divergence, nats": "kl_nats", "growth of perplexity": "perplexity_change"}
    for (name, look), cost in zip(style.looks(list(costs)).items(), costs.values()):
        axes.scatter([row["nmse"] for row in rows], [row[cost] / row["nmse"] for row in rows], color=look.colour,
                     marker=look.marker, s=16, label=name)
    axes.set(xscale="log", xlabel="NMSE", title="Divided by the NMSE, every model")
    axes.legend(fontsize=style.SMALL)
    axes.grid(color=style.PALE)


def _places_panel(axes, rows: list[dict]) -> None:
    for index, way in enumerate(dict.fromkeys(row["way"] for row in rows)):
        some = [row for row in rows if row["way"] == way]
        axes.barh([at + 0.4 * index for at in range(len(some))], [max(row["kl_nats"], 1e-9) for row in some], 0.38,
                  color=(style.BLUE, style.VERMILION)[index % 2], label=way)
        axes.set_yticks([at + 0.2 for at in range(len(some))], [
            f"layer {row['only'].split('/')[0]}, " + ("attention" if row["only"].endswith("out") else "FFN")
            for row in some])
    axes.set(xscale="log", xlabel="KL divergence, nats for each character",
             title="Quantized in one place only, 8 ranks")
    axes.invert_yaxis()
    axes.set_xlim(right=20 * max(row["kl_nats"] for row in rows))
    axes.legend(fontsize=style.SMALL, loc="center right")


@dataclasses.dataclass(frozen=True)
class _Cost:
    """A cost of stored weights: keys of the mean and of the ends of its interval, a unit, and the least that is
    drawn."""

    mean: str
    low: str
    high: str
    label: str
    unit: float = 1.0
    least: float = 0.0

    def drawn(self, row: dict, key: str) -> float:
        return max(row[key], self.least) / self.unit


def _stored_panel(axes, rows: list[dict], title: str, cost: _Cost) -> None:
    names = dict.fromkeys(["GPTQ", *(row["method"] for row in rows)])  # the same look in both panels
    for name, look in style.looks(list(names)).items():
        some = sorted((row for row in rows if row["method"] == name), key=lambda row: row["bits_per_weight"])
        axes.plot([row["bits_per_weight"] for row in some], [cost.drawn(row, cost.mean) for row in some],
                  color=look.colour, linestyle=look.line, marker=look.marker, markersize=5, linewidth=1, label=name)
        for row in some:
            axes.plot([row["bits_per_weight"]] * 2, [cost.drawn(row, end) for end in (cost.low, cost.high)],
                      color=look.colour, linewidth=0.8)
    axes.set(yscale="log", xlabel="bits of a weight, with all that is stored", title=title)
    axes.grid(color=style.PALE)
    axes.legend(fontsize=style.SMALL - 1)


def _stored(folder: pathlib.Path, name: str, rows: list[dict], cost: _Cost) -> None:
    """Costs by the exact bits of a weight, below 8 bits; bars: 95 %."""
    _begin()
    figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.8), sharey=True)
    shown = [row for row in rows if row["bits"] < 8]
    by_row = {row["method"] for row in shown if "by row" in row["method"] or "apart" in row["method"]}
    _stored_panel(left, [row for row in shown if row["method"] not in by_row], "Groups of 32 (or 128)", cost)
    _stored_panel(right, [row for row in shown if row["method"] in by_row | {"GPTQ"}],
                  "Groups of a row, and GPTQ of the left", cost)
    least = min((cost.drawn(row, cost.mean) for row in shown), default=1.0)
    left.set(ylabel=cost.label, ylim=(least / 2, None))
    figure.tight_layout()
    _save(figure, folder, name)


def stored(folder: pathlib.Path, rows: list[dict]) -> None:
    _stored(folder, "stored", rows, _Cost("perplexity_change", "change_low", "change_high",
                                          "perplexity grows by, % (bars: 95 % over seeds)", 0.01, SHOWN))


def stored_encoder(folder: pathlib.Path, rows: list[dict]) -> None:
    _stored(folder, "stored_encoder", rows, _Cost("turned", "turned_low", "turned_high",
                                                  "1 - cosine to the exact embedding (bars: 95 % over sets)"))


def _names(axes, rows: list[dict]) -> None:
    """Names of the points with a visible increase that are far enough apart to be legible."""
    last = None
    for row in sorted(rows, key=lambda row: row["perplexity_change"]):
        at = row["perplexity_change"] * 100
        if at > 0.02 and (last is None or at > 1.6 * last):
            axes.annotate(row["way"], (row["nmse"], at), xytext=(-7, 0), textcoords="offset points",
                          fontsize=style.SMALL - 1, ha="right", va="center")
            last = at


def encoder(folder: pathlib.Path, rows: list[dict]) -> None:
    _begin()
    figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.4))
    counts = sorted({row["ranks"] for row in rows})
    drawn = [row for row in rows if row["nmse"] > FP32]
    for (name, look), count in zip(style.looks([f"{count} ranks" for count in counts]).items(), counts):
        some = [row for row in drawn if row["ranks"] == count]
        for axes, values in ((left, [1 - row["cosine_mean"] for row in some]),
                             (right, [row["places_mean"] for row in some])):
            axes.scatter([row["nmse"] for row in some], values, color=look.colour, marker=look.marker, s=22, label=name)
    left.set(xscale="log", yscale="log", xlabel="normalized squared error of a sum (NMSE)",
             ylabel="1 - cosine to the exact embedding, mean", title="Each point a format and a number of ranks")
    right.set(xscale="log", yscale="log", xlabel="normalized squared error of a sum (NMSE)",
              ylabel="places that a pair moves, mean", title="1000 pairs of sentences, ranked by similarity")
    for axes in (left, right):
        axes.grid(color=style.PALE)
    left.legend(fontsize=style.SMALL)
    figure.tight_layout()
    _save(figure, folder, "encoder")


def _band(axes, rows: list[dict], x: str, y: str, look, label: str) -> None:
    """Mean, lowest and highest over the seeds, of finite values."""
    rows = [row for row in rows if row[y] is not None]
    steps = sorted({row["step"] for row in rows})
    values = [[row[y] for row in rows if row["step"] == step] for step in steps]
    at = [next(row[x] for row in rows if row["step"] == step) for step in steps]
    axes.plot(at, [np.mean(each) for each in values], color=look.colour, linestyle=look.line, label=label,
              linewidth=1.3)
    axes.fill_between(at, [min(each) for each in values], [max(each) for each in values], color=look.colour, alpha=0.2,
                      linewidth=0)


def _warnings(axes, curves: dict[str, style.Look], forced: dict[str, dict]) -> None:
    """The step at which seed 1 of each curve diverged: a line in its colour."""
    for name, look in curves.items():
        at = next((found["diverged"] for seed, found in forced.items() if seed.rsplit(", seed", 1)[0] == name), None)
        if at is not None:
            axes.axvline(at, color=look.colour, linestyle=look.line, linewidth=0.7)


def products(folder: pathlib.Path, rows: list[dict], forced: dict[str, dict]) -> None:
    """Losses and kurtosis of healthy trainings, and of trainings that are forced to diverge."""
    _begin()
    figure, axes = plt.subplots(2, 2, figsize=(10.5, 7.6))
    curves = list(dict.fromkeys(row["name"].rsplit(", seed", 1)[0] for row in rows))
    diverging = {name.rsplit(", seed", 1)[0] for name in forced}
    for column, names in enumerate(([name for name in curves if name not in diverging],
                                    [name for name in curves if "doubling" in name])):
        looks = style.looks(names)
        for name, look in looks.items():
            some = [row for row in rows if row["name"].rsplit(", seed", 1)[0] == name]
            _band(axes[0][column], some, "step", ("held_out", "loss")[column], look, name)
            _band(axes[1][column], some, "step", "largest_kurtosis", look, name)
        if column:
            for row in (0, 1):
                _warnings(axes[row][1], looks, forced)
        axes[0][column].set(xlabel="step", ylabel=("held-out loss, nats for each character", "loss before the step")[
            column], title=("As it should be", "Rate doubles every 10 steps (vertical: seed 1 has diverged)")[column])
        axes[1][column].set(xlabel="step", ylabel="largest kurtosis of any layer", yscale="log")
        for row in (0, 1):
            axes[row][column].grid(color=style.PALE)
        if names:
            axes[0][column].legend(fontsize=style.SMALL - 1)
    axes[0][1].set_yscale("log")
    figure.tight_layout()
    _save(figure, folder, "products")


def scheme_looks(names: list[str]) -> dict[str, style.Look]:
    """A style for each scheme; variants share the colour of their base scheme."""
    ends = {name: next((end for end in VARIANTS if name.endswith(end)), None) for name in names}
    plain = style.looks([name for name, end in ends.items() if end is None] or names)
    return {name: plain.get(name) or dataclasses.replace(plain[name.removesuffix(end)], line=VARIANTS[end])
            for name, end in ends.items()}


def gradients(folder: pathlib.Path, rows: list[dict], seconds: dict[str, dict[str, float]]) -> None:
    """Losses by steps, and by time over the slowest and the fastest network; `seconds`: of a step, by network and
    scheme."""
    _begin()
    figure, panels = plt.subplots(1, 3, figsize=(13, 4.6), sharey=True)
    looks = scheme_looks(list(dict.fromkeys(row["scheme"] for row in rows)))
    networks = (None, *(list(seconds)[at] for at in (0, -1)))
    for axes, network in zip(panels, networks):
        for name, look in looks.items():
            some = [row for row in rows if row["scheme"] == name]
            if network is None:
                _band(axes, some, "step", "held_out", look, name)
            elif name in seconds[network]:
                timed = [row | {"time_s": row["step"] * seconds[network][name]} for row in some]
                _band(axes, timed, "time_s", "held_out", look, name)
        axes.grid(color=style.PALE)
    low = min(row["held_out"] for row in rows)
    panels[0].set(xlabel="step", ylabel="held-out loss of the small model, nats", title="By steps",
                  ylim=(low - 0.05, min(low + 1.5, max(row["held_out"] for row in rows))))
    for axes, network in zip(panels[1:], networks[1:]):
        axes.set(xlabel="simulated seconds of the large model's steps", title=f"By time, {network}")
    panels[0].legend(fontsize=style.SMALL - 1)
    figure.tight_layout()
    _save(figure, folder, "gradients")


def _seedless(name: str) -> str:
    return name.rsplit(", seed", 1)[0]


def _warned(axes, planted: dict[str, dict], curves: list[str], onset: int) -> None:
    """For each curve and monitor the steps of its warnings, and a bar from the onset to harm."""
    monitors = list(next(iter(planted.values()))["warned"])
    lines = [(curve, monitor) for curve in curves for monitor in monitors]
    for row, (curve, monitor) in enumerate(lines):
        some = [found for name, found in planted.items() if _seedless(name) == curve]
        steps = [found["warned"][monitor] for found in some if found["warned"][monitor] is not None]
        harms = [found["harmed"] for found in some if found["harmed"] is not None]
        axes.scatter(steps, [row] * len(steps), color=style.BLUE, marker="o", s=20, zorder=3,
                     label="warned (each seed)" if row == 0 else None)
        axes.scatter(harms, [row] * len(harms), color=style.VERMILION, marker="|", s=90, zorder=2,
                     label="harmed" if row == 0 else None)
    axes.axvline(onset, color=style.GREY, linewidth=0.8, linestyle=(0, (4, 3)))
    axes.set_yticks(range(len(lines)), [f"{curve.split(',')[0]}: {monitor}" for curve, monitor in lines],
                    fontsize=style.SMALL)
    axes.set_ylim(len(lines) - 0.5, -0.5)
    axes.legend(fontsize=style.SMALL - 1, loc="lower left")


def outliers(folder: pathlib.Path, rows: list[dict], summary: dict) -> None:
    """Losses with planted outliers, and when monitors warned; dashed vertical: the outlier begins to grow."""
    _begin()
    figure, axes = plt.subplots(2, 2, figsize=(10.5, 7.6), gridspec_kw={"width_ratios": (1.25, 1)})
    titles = {"channel": "A channel of the FFN's input grows", "qk": "Queries and keys grow"}
    for (left, right), plant in zip(axes, titles):
        names = [name for name in dict.fromkeys(_seedless(row["name"]) for row in rows)
                 if f"{plant} grows" in name or ("fp8, healthy" in name)]
        for name, look in style.looks(names).items():
            _band(left, [row for row in rows if _seedless(row["name"]) == name], "step", "loss", look, name)
        left.axvline(summary["onset"], color=style.GREY, linewidth=0.8, linestyle=(0, (4, 3)))
        left.set(xlabel="step", ylabel="loss before the step, nats", title=titles[plant])
        left.legend(fontsize=style.SMALL - 1)
        _warned(right, summary["planted"], [f"{kind} fp8, {plant} grows" for kind in ("llama", "fog")],
                summary["onset"])
        right.set(xlabel="step", title="FP8: which monitor warned, and when", xlim=left.get_xlim())
        for each in (left, right):
            each.grid(color=style.PALE)
    figure.tight_layout()
    _save(figure, folder, "outliers")
