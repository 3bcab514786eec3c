"""Predicts an AllGather by the C interface, with ctypes (docs/predictor.md).

Usage: example.py LIBRARY
"""
import ctypes
import sys


class Query(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("collective", ctypes.c_char_p), ("bytes", ctypes.c_uint64),
                ("ranks", ctypes.c_uint32), ("reserved", ctypes.c_uint32), ("dtype", ctypes.c_char_p),
                ("format", ctypes.c_char_p), ("algorithm", ctypes.c_char_p), ("options", ctypes.c_char_p)]


class Answer(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("time_s", ctypes.c_double), ("low_s", ctypes.c_double),
                ("high_s", ctypes.c_double), ("nmse", ctypes.c_double), ("sqnr_db", ctypes.c_double),
                ("samples", ctypes.c_uint32), ("ranks", ctypes.c_uint32), ("conversions", ctypes.c_uint32),
                ("encodings", ctypes.c_uint32), ("sums_in_fp32", ctypes.c_uint32),
                ("deterministic", ctypes.c_uint32), ("ranks_identical", ctypes.c_uint32),
                ("calibrated", ctypes.c_uint32), ("algorithm", ctypes.c_char * 32), ("protocol", ctypes.c_char * 16)]


library = ctypes.CDLL(sys.argv[1])
library.equarx_last_error.restype = ctypes.c_char_p
library.equarx_predict.argtypes = [ctypes.c_void_p, ctypes.POINTER(Query), ctypes.POINTER(Answer)]
library.equarx_predictor_destroy.argtypes = [ctypes.c_void_p]


def check(status: int) -> None:
    if status != 0:
        sys.exit(library.equarx_last_error().decode())


predictor = ctypes.c_void_p()
check(library.equarx_predictor_create(b'{"hardware": "tpu-v6e", "topology": {"slice": "4x4"}}', None,
                                      ctypes.byref(predictor)))
query = Query(size=ctypes.sizeof(Query), collective=b"all-gather", bytes=16 << 20)
answer = Answer(size=ctypes.sizeof(Answer))
check(library.equarx_predict(predictor, ctypes.byref(query), ctypes.byref(answer)))
print(f"{answer.algorithm.decode()} on {answer.ranks} ranks: {answer.time_s * 1e6:.1f} us, exact: {answer.nmse == 0}")
check(library.equarx_predictor_destroy(predictor))
