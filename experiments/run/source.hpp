// The values of a configuration's tensor.
#pragma once

#include "experiments/config/config.hpp"
#include "models/values/tensor_source.hpp"

namespace equarx::run {

/// From its files, or made up by its distribution and seed. The configuration must outlive it.
values::TensorSource make_source(const config::TensorConfig& tensor);

}  // namespace equarx::run
