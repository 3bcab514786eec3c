// Error of experts whose tokens and results are exchanged in few bits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/input/object_reader.hpp"
#include "models/experts/errors.hpp"
#include "models/tensors/tensor_file.hpp"

namespace equarx::inspect {

/// A layer of experts with drawn weights, and its tokens.
struct ExpertsRequest {
  std::optional<tensors::TensorFile> activations = {};  ///< [tokens, width]; drawn without a file
  std::uint32_t experts = 64;
  std::uint32_t top_k = 8;
  std::uint32_t hidden = 128;  ///< inner width of an expert
};

/// Effect of formats on the results of experts.
struct ExpertsReport {
  std::size_t tokens = 0;
  experts::LayerShape shape;
  double dispatch_bits = 0.0;  ///< per element, all side data included
  double combine_bits = 0.0;
  experts::ExchangeErrors errors;
};

/// Exchanges tokens and results, and compares, in memory. @throws InputError for tensors that do not
/// suit the layer or the formats; tensors::FileError
ExpertsReport exchange(const ExpertsRequest& request, const experts::ExchangeFormats& formats);

/// The report as a table for people.
std::string to_table(const ExpertsReport& report);

/// The report as JSON.
input::Json to_json(const ExpertsReport& report);

}  // namespace equarx::inspect
