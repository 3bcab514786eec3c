#include "tools/python/bindings/tensors.hpp"

#include <array>
#include <stdexcept>

namespace equarx::python {

using numerics::ElementFormat;
using tensors::FileType;

namespace {

constexpr std::array kTypes = {FileType::fp32, FileType::fp16, FileType::bf16, FileType::fp8_e4m3,
                               FileType::fp8_e5m2};

}  // namespace

FileType file_type(const std::string& dtype) {
  for (const FileType type : kTypes)
    if (name(element_format(type)) == dtype) return type;
  throw std::invalid_argument("there is no type of tensors called " + dtype);
}

ElementFormat element_format(FileType type) {
  switch (type) {
    case FileType::fp32: return ElementFormat::fp32;
    case FileType::fp16: return ElementFormat::fp16;
    case FileType::bf16: return ElementFormat::bf16;
    case FileType::fp8_e4m3: return ElementFormat::fp8_e4m3;
    case FileType::fp8_e5m2: return ElementFormat::fp8_e5m2;
  }
  throw std::logic_error("unknown type of a file's elements");
}

}  // namespace equarx::python
