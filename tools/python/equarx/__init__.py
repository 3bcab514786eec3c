"""equarx: times quantized collectives on simulated TPU slices, and computes them on arrays.

    import equarx, numpy
    gradients = numpy.random.randn(8, 4096, 512).astype("float32")
    equarx.allreduce(gradients, format="int8", topology={"slice": "4x2"}).sqnr_db

docs/python.md is the guide.
"""
import atexit as _atexit

from . import _core
from ._automatic_mu import AutomaticMu
from ._collectives import Outcome, all_gather, all_to_all, allreduce, broadcast, reduce_scatter
from ._contract import contract
from ._errors import DefectError, InputError, ProgramError
from ._gemm import matmul
from ._golden import check_vectors
from ._instructions import Program
from ._lazy import Lazy
from ._known import formats, hardware, topology
from ._quantize import Quantized, Stored, dequantize, quantize
from ._plan import CapacityPlan, plan
from ._run import run
from ._serve import Served, serve
from ._sweep import Swept, sweep
from ._tune import Tuned, TunedStep, tune
from ._tensors import Tensors
from .result import Record, Result, Run

__version__: str = _core.version()
__all__ = [
    "AutomaticMu", "CapacityPlan", "DefectError", "InputError", "Lazy", "Outcome", "Program", "ProgramError", "Quantized", "Record",
    "Result", "Run", "Served", "Stored", "Swept", "Tensors", "Tuned", "TunedStep", "all_gather", "all_to_all",
    "allreduce", "broadcast", "check_vectors", "contract", "dequantize", "formats", "hardware", "matmul", "plan",
    "quantize", "reduce_scatter", "run", "serve", "sweep", "topology", "tune",
]

_atexit.register(_core.finish_work)
