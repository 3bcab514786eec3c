/* equarx.h: times and errors of collectives, predicted by simulation (docs/predictor.md).

   Link with -lequarx. All functions are thread-safe and may be called on any thread; none throws,
   aborts, forks or writes to files or streams. Texts are UTF-8 and end in NUL. A status other than
   EQUARX_OK leaves output arguments unchanged. Structures grow at their ends in later versions:
   `size` is sizeof of the caller's, and absent members have their defaults. */
#ifndef EQUARX_H
#define EQUARX_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Status of a call. */
enum {
  EQUARX_OK = 0,
  EQUARX_INVALID_INPUT = 1,  /* an argument or a query; the error has place and remedy */
  EQUARX_INVALID_HANDLE = 2, /* never created, or destroyed */
  EQUARX_OUT_OF_MEMORY = 3,
  EQUARX_DEFECT = 4 /* of this library */
};
typedef int equarx_status;

/* A machine with cached answers. Handles are not reused, so a destroyed one is always refused. */
typedef struct equarx_predictor equarx_predictor;

/* Parts of an answer to leave out, for speed; their members are then NaN. */
enum { EQUARX_SKIP_ERRORS = 1, EQUARX_SKIP_INTERVALS = 2 };

typedef struct {
  size_t size;            /* sizeof(equarx_options) */
  uint32_t cache_entries; /* most cached answers; 0: 65,536 */
  uint32_t threads;       /* of one simulated answer; 0: one per core */
  uint32_t skip;          /* sum of EQUARX_SKIP_... */
  uint32_t reserved;      /* 0 */
} equarx_options;

/* Names are those of docs/configuration.md. A null text has its default. */
typedef struct {
  size_t size;            /* sizeof(equarx_query) */
  const char* collective; /* default "all-reduce" */
  uint64_t bytes;         /* on each rank: the larger of its input and output */
  uint32_t ranks;         /* 0: all chips of the machine */
  uint32_t reserved;      /* 0 */
  const char* dtype;      /* type of the tensor; default "bf16" */
  const char* format;     /* on the wire; default: the tensor's type */
  const char* algorithm;  /* default "auto": the fastest */
  const char* options;    /* JSON object of further keys of a collective; default: none */
} equarx_query;

typedef struct {
  size_t size;      /* in: sizeof(equarx_answer) */
  double time_s;    /* on the nominal machine */
  double low_s;     /* 68 % interval; may lie to one side of time_s. NaN: nothing is uncertain */
  double high_s;    /* likewise */
  double nmse;      /* squared error / squared exact result of a sample of the tensor; 0: exact */
  double sqnr_db;   /* -10 log10(nmse); +Inf: exact */
  uint32_t samples; /* machines drawn for the interval; 0: none */
  uint32_t ranks;
  uint32_t conversions;     /* roundings to types without scales, from an input to the result */
  uint32_t encodings;       /* roundings to codes with scales, likewise */
  uint32_t sums_in_fp32;    /* 1: no sum is rounded before it is complete; else 0 */
  uint32_t deterministic;   /* 1: no random rounding; else 0 */
  uint32_t ranks_identical; /* 1: all ranks end with the same bits; else 0 */
  uint32_t calibrated;      /* 1: the chip's parameters are fitted to measurements; else 0 */
  char algorithm[32];       /* that runs */
  char protocol[16];        /* of NCCL; "": none */
} equarx_answer;

/* Version of the library, like "0.2.0". Never null. */
const char* equarx_version(void);

/* The last error on this thread, one line; "" without one. Valid until the next call on this
   thread. Never null. */
const char* equarx_last_error(void);

/* Creates a predictor. `machine_json`: keys of a configuration that describe machine and simulation,
   like {"hardware": "h100", "topology": {"switch": 8}}. `options`: null for defaults. */
equarx_status equarx_predictor_create(const char* machine_json, const equarx_options* options,
                                      equarx_predictor** predictor);

/* Answers a query. A cached answer takes about a microsecond, another one as long as its simulation:
   typically 0.01 to 1 s. Equal queries have equal answers. */
equarx_status equarx_predict(const equarx_predictor* predictor, const equarx_query* query,
                             equarx_answer* answer);

/* Destroys a predictor; running calls complete. Null is ignored. */
equarx_status equarx_predictor_destroy(equarx_predictor* predictor);

#ifdef __cplusplus
}
#endif

#endif /* EQUARX_H */
