// Comparison of two ways to compute the same values.
#pragma once

#include "models/values/value_executor.hpp"
#include "tests/catch.hpp"

namespace equarx::values {

/// Checks that errors, counts and bytes are equal, bit for bit.
inline void check_same(const ValueResult& one, const ValueResult& other) {
  CHECK(one.against_exact.count == other.against_exact.count);
  CHECK(one.against_exact.mse == other.against_exact.mse);
  CHECK(one.against_exact.nmse == other.against_exact.nmse);
  CHECK(one.against_exact.max_abs_error == other.against_exact.max_abs_error);
  CHECK(one.against_exact.mean_signed_error == other.against_exact.mean_signed_error);
  CHECK(one.ranks_identical == other.ranks_identical);
  CHECK(one.differing == other.differing);
  CHECK(one.sent_bytes == other.sent_bytes);
  CHECK(one.received_bytes == other.received_bytes);
  CHECK(one.quantized == other.quantized);
  CHECK(one.computed_elements == other.computed_elements);
}

}  // namespace equarx::values
