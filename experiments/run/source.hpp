// Source of the values of a configuration's tensor.
#pragma once

#include "experiments/config/config.hpp"
#include "models/values/tensor_source.hpp"

namespace equarx::run {

/// Reads its files, or generates values from its distribution and seed. `tensor` must outlive the
/// source.
values::TensorSource make_source(const config::TensorConfig& tensor);

/// The residual of the configuration, or else synthetic normal values with the next seed.
values::TensorSource make_residual_source(const config::TensorConfig& tensor);

}  // namespace equarx::run
