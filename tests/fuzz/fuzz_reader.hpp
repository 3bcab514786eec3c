// Checks shared by the fuzz targets of tensor files, in addition to the sanitizers.
#pragma once

#include <cstdlib>
#include <string_view>
#include <vector>

#include "models/tensors/file_error.hpp"
#include "models/tensors/tensor_layout.hpp"

namespace equarx::testing {

/// Aborts if a reader throws anything but a FileError with one short, printable line, or accepts a
/// layout with elements outside the file.
template <class ReadHeader>
void fuzz_reader(std::span<const std::byte> bytes, ReadHeader read_header) {
  tensors::TensorLayout layout;
  try {
    layout = read_header();
  } catch (const tensors::FileError& error) {
    constexpr std::size_t kLongestLine = 2000;
    const std::string_view message = error.what();
    if (message.size() > kLongestLine) std::abort();
    for (const char c : message)
      if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') std::abort();
    return;
  }
  std::uint64_t elements = 1;
  for (const std::uint64_t dimension : layout.shape) elements *= dimension;
  if (elements == 0 || elements != layout.elements) std::abort();
  const std::size_t size = layout.elements * tensors::element_bytes(layout.type);
  if (layout.offset > bytes.size() || size > bytes.size() - layout.offset) std::abort();
  std::vector<float> values(layout.elements);
  convert_elements(layout.type, bytes.subspan(layout.offset, size), values);
}

}  // namespace equarx::testing
