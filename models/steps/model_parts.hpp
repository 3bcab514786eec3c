// Parts of a model on the stages of a pipeline.
#pragma once

#include <cstdint>
#include <vector>

#include "models/steps/degrees.hpp"
#include "models/steps/training.hpp"
#include "models/workloads/transformer.hpp"

namespace equarx::steps {

/// Consecutive layers, with the embedding before the first and the head after the last.
struct ModelPart {
  std::uint32_t first = 0;  ///< layer
  std::uint32_t end = 0;    ///< layer after the last
  bool embedding = true;
  bool head = true;

  bool operator==(const ModelPart&) const = default;
};

/// Divides the layers into `parts`. `layers`: of each part; if empty, as equal as possible, the first
/// ones with one more.
/// @throws std::invalid_argument if a part has no layer, or `layers` are not those of the model; the
/// message names a remedy
std::vector<ModelPart> model_parts(const workloads::Transformer& model, std::uint32_t parts,
                                   const std::vector<std::uint32_t>& layers);

/// True if chips with some parts look tokens up for predictions in a copy of the embedding.
bool copies_embedding(const workloads::Transformer& model, const std::vector<ModelPart>& parts,
                      std::uint32_t depth);

/// Weights of some parts. A table for both embedding and head counts once if they are in one part.
/// `depth`: modules that predict further tokens, with the head
Weights weights_of(const workloads::Transformer& model, const std::vector<ModelPart>& parts,
                   const Degrees& degrees, std::uint32_t depth = 0);

/// Weights that a chip with some parts updates, relative to one with the whole model.
double updated_share(const Training& training, const std::vector<ModelPart>& parts,
                     const Degrees& degrees);

}  // namespace equarx::steps
