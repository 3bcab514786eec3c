/* Predicts AllReduces on a node of 8 H100 GPUs, plain and quantized (docs/predictor.md). */
#include <stdio.h>

#include "equarx.h"

static int fail(const char* what) {
  fprintf(stderr, "%s: %s\n", what, equarx_last_error());
  return 1;
}

int main(void) {
  const char* machine = "{\"hardware\": \"h100\", \"topology\": {\"switch\": 8}}";
  const char* formats[] = {"bf16", "fp8-e4m3"};
  equarx_predictor* predictor = NULL;
  if (equarx_predictor_create(machine, NULL, &predictor) != EQUARX_OK) return fail("machine");
  for (int i = 0; i < 2; ++i) {
    const equarx_query query = {
        .size = sizeof query, .bytes = 64u << 20, .ranks = 4, .format = formats[i]};
    equarx_answer answer = {.size = sizeof answer};
    if (equarx_predict(predictor, &query, &answer) != EQUARX_OK) return fail(formats[i]);
    printf("%-8s  %-9s %6.1f us (%.1f to %.1f), %.1f dB, %u and %u roundings\n", formats[i],
           answer.algorithm, answer.time_s * 1e6, answer.low_s * 1e6, answer.high_s * 1e6,
           answer.sqnr_db, answer.conversions, answer.encodings);
  }
  return equarx_predictor_destroy(predictor) == EQUARX_OK ? 0 : fail("destroy");
}
