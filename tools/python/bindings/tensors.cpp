#include "tools/python/bindings/tensors.hpp"

#include <stdexcept>

#include "models/values/tensor_types.hpp"

namespace equarx::python {

tensors::FileType file_type(const std::string& dtype) {
  for (const numerics::ElementFormat format : numerics::kTensorFormats)
    if (name(format) == dtype) return values::file_type(format);
  throw std::invalid_argument("unknown tensor type " + dtype);
}

std::vector<float> all_values(const tensors::MemoryTensor& tensor) {
  std::vector<float> values(tensor.elements());
  tensor.read(0, values);
  return values;
}

}  // namespace equarx::python
