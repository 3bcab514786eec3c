// Element types and kinds of HLO collectives as they are simulated.
#pragma once

#include <optional>
#include <string_view>

#include "importers/hlo/collectives.hpp"
#include "models/collectives/program.hpp"
#include "models/formats/block_format.hpp"

namespace equarx::steps {

/// Element type used for an HLO type.
struct TensorType {
  numerics::ElementFormat format = numerics::ElementFormat::fp32;
  bool is_exact = true;  ///< same type, not merely the same size
};

/// Type of an HLO type such as "bf16"; of its size if there is none.
TensorType tensor_type(std::string_view type);

/// Collective of an HLO kind; std::nullopt for a permute.
std::optional<collectives::Collective> collective_of(hlo::CollectiveKind kind);

}  // namespace equarx::steps
