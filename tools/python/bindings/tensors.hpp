// Tensor types by their names in configurations: fp32, bf16, fp16, fp8-e4m3, fp8-e5m2.
#pragma once

#include <string>

#include "models/tensors/element_type.hpp"

namespace equarx::python {

/// @throws std::invalid_argument for any other name.
tensors::FileType file_type(const std::string& dtype);

}  // namespace equarx::python
