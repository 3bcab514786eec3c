#include "tools/python/bindings/tensors.hpp"

#include <stdexcept>

#include "models/values/tensor_types.hpp"

namespace equarx::python {

tensors::FileType file_type(const std::string& dtype) {
  for (const numerics::ElementFormat format : numerics::kTensorFormats)
    if (name(format) == dtype) return values::file_type(format);
  throw std::invalid_argument("unknown tensor type " + dtype);
}

}  // namespace equarx::python
