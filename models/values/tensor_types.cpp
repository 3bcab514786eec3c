#include "models/values/tensor_types.hpp"

#include <stdexcept>

namespace equarx::values {

using numerics::ElementFormat;
using tensors::FileType;

ElementFormat element_format(FileType type) {
  switch (type) {
    case FileType::fp32: return ElementFormat::fp32;
    case FileType::fp16: return ElementFormat::fp16;
    case FileType::bf16: return ElementFormat::bf16;
    case FileType::fp8_e4m3: return ElementFormat::fp8_e4m3;
    case FileType::fp8_e5m2: return ElementFormat::fp8_e5m2;
    case FileType::fp64:
    case FileType::int8:
    case FileType::uint8:
    case FileType::int32:
    case FileType::int64: throw std::logic_error("tensors of a run cannot be FP64 or integers");
  }
  throw std::logic_error("unknown element type of a file");
}

FileType file_type(ElementFormat format) {
  for (const FileType type :
       {FileType::fp32, FileType::fp16, FileType::bf16, FileType::fp8_e4m3, FileType::fp8_e5m2})
    if (element_format(type) == format) return type;
  throw std::logic_error("no tensor is stored in this format");
}

}  // namespace equarx::values
