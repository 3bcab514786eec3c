// Error of attention with a KV cache in a stored format.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/input/object_reader.hpp"
#include "models/attention/errors.hpp"
#include "models/attention/stored_cache.hpp"
#include "models/tensors/tensor_file.hpp"

namespace equarx::inspect {

/// Tensors of one layer, [heads, tokens, head size], or [tokens, heads x head size] with
/// `head_size`.
struct AttentionFiles {
  std::optional<tensors::TensorFile> keys = {};  ///< drawn without a file, as are values
  std::optional<tensors::TensorFile> values = {};
  std::optional<tensors::TensorFile> queries = {};  ///< drawn without a file
  std::optional<std::uint64_t> head_size = {};
  bool causal = false;
  double spread = 2.0;  ///< standard deviation of the logits of drawn queries
};

/// Effect of a format on keys, or on values.
struct StoredPart {
  double bits = 0.0;  ///< per element, all side data included
  double nmse = 0.0;
};

/// Effect of formats on attention.
struct AttentionReport {
  attention::CacheShape shape;
  std::size_t query_rows = 0;
  std::size_t query_heads = 0;
  StoredPart keys;
  StoredPart values;
  attention::Errors outputs;
};

/// Stores keys and values, and compares the outputs, in memory. @throws InputError for tensors that
/// do not suit each other or the formats; tensors::FileError
AttentionReport attend(const AttentionFiles& files, const attention::CacheFormats& formats);

/// The report as a table for people.
std::string to_table(const AttentionReport& report);

/// The report as JSON.
input::Json to_json(const AttentionReport& report);

}  // namespace equarx::inspect
