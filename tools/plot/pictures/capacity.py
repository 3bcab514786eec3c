"""Capacity plans: tokens/s per chip against tokens/s per user."""
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from drawing import labels, sheet, style
from read.capacity import Plan

WIDTH, HEIGHT = 9, 4.2
ESTIMATE = {"marker": ".", "linestyle": "none", "markersize": 3.5, "alpha": 0.45}
POINT = {"marker": "o", "markersize": 4, "linewidth": 1}
LIMIT = {"color": style.VERMILION, "linestyle": ":", "linewidth": 1.4}
# Margin around the points, as a factor.
ROOM = 1.1


def draw(plan: Plan) -> Figure:
    """Simulated loads of every ranked candidate, numbered at the largest; steady states of all as dots."""
    figure, [axes] = sheet.frame(WIDTH, HEIGHT, sheet.Margins(foot=style.inches(0.2 * (len(plan.ranked) + 2))))
    looks = style.looks(list(dict.fromkeys(one.chip for one in plan.ranked)))
    for chip, look in looks.items():
        dots = [(user, rate) for name, user, rate in plan.estimated if name == chip]
        axes.plot([user for user, _ in dots], [rate for _, rate in dots], color=look.colour, **ESTIMATE)
    ends = []
    for one in plan.ranked:
        users, rates = zip(*one.points)
        axes.plot(users, rates, color=looks[one.chip].colour, **POINT)
        ends.append(one.points[-1])
    axes.axvline(plan.least_per_user, **LIMIT)
    everything = [point for one in plan.ranked for point in one.points] + [
        (user, rate) for name, user, rate in plan.estimated if name in looks]
    axes.set_xlim(0, ROOM * max(user for user, _ in everything))
    axes.set_ylim(0, ROOM * max(rate for _, rate in everything))
    axes.set_xlabel("output tokens/s per user")
    axes.set_ylabel("output tokens/s per chip")
    numbers = [labels.Label(x, y, str(place + 1)) for place, (x, y) in enumerate(ends)]
    labels.place(axes, numbers, ends)
    legend = [Line2D([], [], label=chip, color=look.colour, **POINT) for chip, look in looks.items()]
    legend += [Line2D([], [], label="steady states", color=style.GREY, **ESTIMATE),
               Line2D([], [], label="limit of TPOT", **LIMIT)]
    sheet.caption(figure, "Capacity plan", plan.what, [legend], sheet.source())
    _write_list(axes, plan)
    return figure


def _write_list(axes, plan: Plan) -> None:
    """Candidates by number, below the panel."""
    for place, one in enumerate(plan.ranked):
        cost = f", ${one.dollars:.3g} per million tokens" if one.dollars else ""
        axes.annotate(f"{place + 1}  {one.name}{cost}", (0, 0), xycoords="axes fraction",
                      xytext=(0, -(38 + 12 * place)), textcoords="offset points", fontsize=style.SMALL, va="top")
