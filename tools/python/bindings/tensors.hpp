// Tensor types by their names in configurations: fp32, bf16, fp16, fp8-e4m3, fp8-e5m2.
#pragma once

#include <string>
#include <vector>

#include "models/tensors/element_type.hpp"
#include "models/tensors/memory_tensor.hpp"

namespace equarx::python {

/// @throws std::invalid_argument for any other name.
tensors::FileType file_type(const std::string& dtype);

/// All values of an array, in FP32.
std::vector<float> all_values(const tensors::MemoryTensor& tensor);

}  // namespace equarx::python
