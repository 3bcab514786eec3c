// The "arithmetic" of a collective: how its sums are formed.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/input/object_reader.hpp"
#include "experiments/config/config.hpp"

namespace equarx::config {

/// The arithmetic of a library's kernel.
struct ArithmeticPreset {
  std::string_view name;                     ///< "trtllm-one-shot"
  std::vector<std::string_view> algorithms;  ///< that it describes
  ArithmeticConfig arithmetic;
  std::string_view sums;    ///< in Markdown
  std::string_view source;  ///< file or pull request, in Markdown
};

/// The presets, in the order of docs/numerics.md.
std::span<const ArithmeticPreset> arithmetic_presets();

/// Reads "arithmetic" of a collective whose other keys are known: keys, or the name of a preset.
/// @throws InputError for contradictions, and for what the algorithm or format cannot do
void read_arithmetic(input::ObjectReader& reader, CollectiveConfig& config,
                     collectives::Collective collective);
/// The key's value; null if sums have the default arithmetic.
input::Json arithmetic_json(const ArithmeticConfig& arithmetic);

/// True if the arithmetic of `config` is possible, and may change its sums: an order where a kernel
/// has all terms of a sum, `once` where partial sums are sent.
bool has_arithmetic(const CollectiveConfig& config, collectives::Collective collective);

/// Arithmetic of the programs of a collective.
collectives::Arithmetic arithmetic_of(const ArithmeticConfig& config,
                                      numerics::ElementFormat dtype);

/// Parts of a default label: "fp16 sums", "rounded once".
std::vector<std::string> arithmetic_words(const ArithmeticConfig& arithmetic);

/// Schema of the key, with annotations.
input::Json arithmetic_schema();

}  // namespace equarx::config
