"""equarx: times quantized collectives on simulated TPU slices, and computes them on arrays.

    import equarx, numpy
    gradients = numpy.random.randn(8, 4096, 512).astype("float32")
    equarx.allreduce(gradients, format="int8", topology={"slice": "4x2"}).sqnr_db

docs/python.md is the guide.
"""
import atexit as _atexit

from . import _core
from ._advise import Advice, advise
from ._automatic_mu import AutomaticMu
from ._codec import Codec
from ._collectives import Outcome, all_gather, all_to_all, allreduce, broadcast, neighbor_average, reduce_scatter
from ._communication import CommunicationModel, Prediction
from ._contract import contract
from ._errors import DefectError, InputError, ProgramError
from ._formats import FormatComparison, compare_formats
from ._gemm import matmul
from ._golden import check_vectors, vectors
from ._imports import (Imported, export_chakra, export_msccl, export_table, import_chakra, import_hlo, import_kineto,
                       import_msccl, import_xprof)
from ._instructions import Program
from ._known import formats, hardware, topology
from ._layers import attention, experts
from ._lazy import Lazy
from ._measured import Calibrated, Study, Timed, accuracy, calibrate, kernels, reproduce
from ._pages import compare, report, show, validate
from ._pictures import Picture
from ._quantize import Quantized, Stored, dequantize, quantize
from ._plan import CapacityPlan, plan
from ._run import run
from ._schedule import Channel, Encoded, Part, ProgramWriter, Schedule, Sent, schedule
from ._serve import Served, serve
from ._sweep import Swept, sweep
from ._tune import Tuned, TunedStep, tune
from ._tensors import Tensors
from .result import Record, Result, Run

__version__: str = _core.version()
__all__ = [
    "Advice", "AutomaticMu", "Calibrated", "CapacityPlan", "Channel", "Codec", "CommunicationModel", "DefectError",
    "Encoded", "FormatComparison", "Imported", "InputError", "Lazy", "Outcome", "Part", "Picture", "Prediction",
    "Program", "ProgramError", "ProgramWriter", "Quantized", "Record", "Result", "Run", "Schedule", "Sent", "Served",
    "Stored", "Study", "Swept", "Tensors", "Timed", "Tuned", "TunedStep", "accuracy", "advise", "all_gather",
    "all_to_all", "allreduce", "attention", "broadcast", "calibrate", "check_vectors", "compare", "compare_formats",
    "contract", "dequantize", "experts", "export_chakra", "export_msccl", "export_table", "formats", "hardware",
    "import_chakra", "import_hlo", "import_kineto", "import_msccl", "import_xprof", "kernels", "matmul",
    "neighbor_average", "plan", "quantize", "reduce_scatter", "report", "reproduce", "run", "schedule", "serve", "show",
    "sweep", "topology", "tune", "validate", "vectors",
]

_atexit.register(_core.finish_work)
