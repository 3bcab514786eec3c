"""Kinds of pictures for the results of the examples. Run by tests/experiments/studies/examples."""
import pathlib
import unittest

HELD = "--where"
BIG_TORUS = [HELD, "/topology/slice=16x16", HELD, "/tensor/bytes=128 MiB", HELD, "/collectives/torus/format=int8"]
PARTS = [HELD, "/collectives/int8/minishards=1", HELD, "/collectives/int8/microshards=32"]
NORMAL, OUTLIERS = [HELD, "/tensor/values=distribution normal"], [HELD, "/tensor/values=files outliers.npy"]
TEN_TIMES_SLOWER = [HELD, "/faults/links/0/bandwidth_factor=0.1"]
ONE_MODEL = [HELD, "/hardware=tpu-v5e", HELD, "/workload/model=gemma3-27b"]
ONE_PREFILL = [*ONE_MODEL, HELD, "/topology/slice=4x8", HELD, "/workload/tokens=512"]

# Options by example and kind, for reduced results. Other kinds must be rejected.
DRAWN = {
    "gain_by_slice": {
        "time": [],
        "speedup": [],
        "breakdown": [HELD, "/topology/slice=16x16", HELD, "/tensor/bytes=64 KiB"],
        "sweep": ["--label", "semi-loop", "--x", "/tensor/bytes", "--y", "/topology/slice"],
    },
    "heavy_tails": {
        "time": NORMAL,
        "speedup": OUTLIERS,
        "error": NORMAL,
        "breakdown": OUTLIERS,
        "tails": [],
        "sweep": ["--x", "/tensor/values", "--y", "label", "--value", "nmse"],
    },
    "microshards": {
        "time": PARTS,
        "speedup": PARTS,
        "error": [*PARTS, HELD, "/tensor/bytes=2 MiB"],
        "breakdown": [*PARTS, HELD, "/tensor/bytes=32 MiB"],
        "sweep": ["--label", "int8", "--x", "/collectives/int8/microshards", "--y", "/collectives/int8/minishards",
                  HELD, "/tensor/bytes=2 MiB"],
        "gantt": ["--from", "0us", "--to", "5us"],
        "pareto": [],
        "sensitivity": [],
    },
    "torus_or_ring": {
        "time": [HELD, "/collectives/torus/format=bf16"],
        "speedup": [HELD, "/collectives/torus/format=int8"],
        "breakdown": BIG_TORUS,
        "sweep": ["--x", "label", "--y", "/topology/slice", *BIG_TORUS[2:], "--value", "lower_bound_s"],
    },
    "slow_link": {
        "time": TEN_TIMES_SLOWER,
        "speedup": TEN_TIMES_SLOWER,
        "breakdown": TEN_TIMES_SLOWER,
        "sweep": ["--x", "/faults/links/0/bandwidth_factor", "--y", "label", "--value", "time_s"],
        "links": ["--label", "ring int8"],
    },
    "slice_for_model": {
        "time": ONE_PREFILL,
        "speedup": ONE_PREFILL,
        "prefill_time": ONE_MODEL,
        "prefill_speedup": ONE_MODEL,
        "sweep": ["--label", "bf16", "--x", "/topology/slice", "--y", "/hardware", HELD, "/workload/tokens=512", HELD,
                  "/workload/model=gemma3-27b"],
    },
}
# Inputs other than the results of a sweep.
INPUTS = {"links": "links.json", "gantt": "trace.json", "pareto": "tuned.json", "sensitivity": "sensitivity.json",
          "study": "."}


def check(case: unittest.TestCase, plot, kinds: list[str], results: pathlib.Path) -> None:
    """Draws each kind for the results of the example with the name of the folder, or checks its rejection.

    plot(words) returns exit code, standard output and standard error of the command.
    """
    example = results.name
    known = DRAWN.get(example)
    for kind in kinds:
        options = (known or {}).get(kind)
        given = results / INPUTS.get(kind, "results.jsonl")
        given = given if given.exists() else results / "results.jsonl"
        code, out, err = plot([kind, str(given), *(options or []), "-o", str(results / "kinds")])
        context = f"{kind} of {example}: {err}"
        if known is None:
            case.assertIn(code, (0, 2), context)
        else:
            case.assertEqual(code, 2 if options is None else 0, context)
        if code == 0:
            case.assertEqual(err, "", context)
            _check_pictures(case, out.split())
        else:
            case.assertEqual((out, err.count("\n")), ("", 1), context)


def _check_pictures(case: unittest.TestCase, paths: list[str]) -> None:
    case.assertEqual([path.rsplit(".", 1)[1] for path in paths], ["png", "svg"])
    png, svg = (pathlib.Path(path).read_bytes() for path in paths)
    case.assertTrue(png.startswith(b"\x89PNG"))
    case.assertIn(b"</svg>", svg)
