"""Latencies of a served model: against load, or their distributions under one load."""
import itertools

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from drawing import sheet, style, ticks
from read.errors import InputError
from read.served import LATENCIES, PERCENTILES, Served
from words import quantities

# In inches.
WIDTH, HEIGHT = 11, 3.4
LOOKS = {"p50_s": {"color": style.BLUE, "marker": "o", "linestyle": "-"},
         "p99_s": {"color": style.VERMILION, "marker": "^", "linestyle": "--"}}
CAPACITY = {"color": style.GREY, "linestyle": ":", "linewidth": 1.4}
CURVE = {"color": style.INK, "linewidth": 1.4}
COUNTS = {"served": {"color": style.GREY, "linewidth": 1.2}, "waiting": {"color": style.GREEN, "linewidth": 1.2}}
COUNT_TEXTS = {"served": "requests before their last token", "waiting": "requests before their first token"}
# Room for the numbers of requests, in inches.
COUNT_MARGIN = 0.6
# Margins above and below the latencies, as a factor on a logarithmic axis.
ROOM = 1.4
LEAST_S = 1e-7
PER_CENT = 100


def draw(loads: list[Served]) -> Figure:
    """A panel for each latency, over loads or with the distribution over the requests of a single one, and then one
    with the requests over time."""
    return _over_loads(loads) if len(loads) > 1 else _distributions(loads[0])


def _over_loads(loads: list[Served]) -> Figure:
    _check(loads)
    loads = sorted(loads, key=lambda one: one.load)
    figure, panels = sheet.frame(WIDTH, HEIGHT, sheet.Margins(), list(map(str.capitalize, LATENCIES.values())))
    places = [one.load for one in loads]
    seconds = [value for one in loads for values in one.seconds.values() for value in values.values()]
    capacities = [one.capacity for one in loads if one.capacity]
    for axes, latency in zip(panels, LATENCIES):
        for key, look in LOOKS.items():
            axes.plot(places, [max(LEAST_S, one.seconds[latency][key]) for one in loads], markersize=6, **look)
        for capacity in capacities[-1:]:
            axes.axvline(capacity, **CAPACITY)
        axes.set_yscale("log")
        axes.set_ylim(max(LEAST_S, min(seconds)) / ROOM, max(seconds) * ROOM)
        axes.set_xlim(0, max([*places, *capacities[-1:]]) * 1.05)
        ticks.log_axis(axes.yaxis, quantities.time_text)
        axes.set_xlabel("requests in flight" if loads[0].is_concurrent else "arriving requests/s")
    sheet.label_rows(panels, "latency (down is better)")
    legend = [Line2D([], [], label=f"{text} of requests are below", **LOOKS[key])
              for key, text in PERCENTILES.items()]
    if capacities:
        legend.append(Line2D([], [], label=f"capacity: {capacities[-1]:.4g} requests/s", **CAPACITY))
    sheet.caption(figure, "Latency against load", loads[0].subject, [legend], sheet.source())
    return figure


def _check(loads: list[Served]) -> None:
    """Loads of one model on one machine, in one unit, and all different."""
    first = loads[0]
    for one in loads[1:]:
        if one.subject != first.subject:
            raise InputError(f"{one.path}: is of {one.subject}, but {first.path} of {first.subject}; draw them apart")
        if one.is_concurrent != first.is_concurrent:
            raise InputError(f"{one.path}: has requests in flight or per second, unlike {first.path}; draw them apart")
    seen = {}
    for one in loads:
        if one.load in seen:
            raise InputError(f"{one.path}: has the load of {seen[one.load]}; give one of them")
        seen[one.load] = one.path


def _distributions(served: Served) -> Figure:
    if served.requests is None:
        raise InputError(f"{served.path}: has no requests; make it with --requests, or give several loads")
    titles = [*map(str.capitalize, LATENCIES.values()), "Requests over time"]
    figure, panels = sheet.frame(WIDTH, HEIGHT, sheet.Margins(right=style.inches(COUNT_MARGIN)), titles, shares=False)
    for axes, latency in zip(panels, LATENCIES):
        _draw_distribution(axes, sorted(served.requests[latency]), served.seconds[latency])
    _draw_counts(panels[-1], served)
    sheet.label_rows(panels[:-1], "share of requests (%)")
    for axes in panels[:-1]:
        axes.tick_params(labelleft=axes.get_subplotspec().is_first_col())
    legend = [Line2D([], [], label="share with this latency or less", **CURVE),
              *(Line2D([], [], label=text, **{**LOOKS[key], "linestyle": "none"})
                for key, text in PERCENTILES.items()),
              *(Line2D([], [], label=text, **COUNTS[key]) for key, text in COUNT_TEXTS.items())]
    count = len(next(iter(served.requests.values())))
    load = f"{served.load:g} in flight" if served.is_concurrent else f"{served.load:.4g}/s"
    sheet.caption(figure, "Latencies of requests", f"{served.subject}; {count} requests, {load}", [legend],
                  sheet.source())
    return figure


def _draw_distribution(axes: Axes, values: list[float], percentiles: dict[str, float]) -> None:
    shares = [PER_CENT * (place + 1) / len(values) for place in range(len(values))]
    axes.step([values[0], *values], [0, *shares], where="post", **CURVE)
    for key, text in PERCENTILES.items():
        axes.plot([percentiles[key]], [float(text.split()[0])], markersize=7, **{**LOOKS[key], "linestyle": "none"})
    longest = max(values[-1], LEAST_S)
    axes.set_xlim(0, longest * 1.05)
    axes.set_ylim(0, PER_CENT)
    ticks.duration_axis(axes.xaxis, longest)


def _draw_counts(axes: Axes, served: Served) -> None:
    axes.yaxis.tick_right()
    axes.yaxis.set_label_position("right")
    axes.set_ylabel("requests")
    end = max(last for _, last in served.spans["served"])
    for key, look in COUNTS.items():
        times, counts = count_over_time(served.spans[key])
        axes.step([0, *times, end], [0, *counts, counts[-1]], where="post", **look)
    axes.set_xlim(0, end)
    axes.set_ylim(bottom=0)
    ticks.duration_axis(axes.xaxis, end)


def count_over_time(spans: list[tuple[float, float]]) -> tuple[list[float], list[int]]:
    """Times at which the number of open spans changes, and the number from then on."""
    changes = sorted([(end, -1) for _, end in spans] + [(start, 1) for start, _ in spans])
    return [time for time, _ in changes], list(itertools.accumulate(change for _, change in changes))
