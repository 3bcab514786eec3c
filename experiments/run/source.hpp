// Source of the values of a configuration's tensor.
#pragma once

#include <optional>

#include "experiments/config/config.hpp"
#include "models/collectives/program.hpp"
#include "models/values/tensor_source.hpp"

namespace equarx::run {

/// Reads its files, or generates values from its distribution and seed. `tensor` must outlive the
/// source.
values::TensorSource make_source(const config::TensorConfig& tensor);

/// The residual that a program adds: from the configuration, or else synthetic normal values with the
/// next seed. std::nullopt for a program without one.
std::optional<values::TensorSource> make_residual_source(const collectives::Program& program,
                                                         const config::TensorConfig& tensor);

}  // namespace equarx::run
