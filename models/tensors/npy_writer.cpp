#include "models/tensors/npy_writer.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "models/tensors/file_error.hpp"
#include "models/tensors/replacement_file.hpp"
#include "models/tensors/tensor_layout.hpp"

namespace equarx::tensors {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kElementsPerPiece = 65536;

/// Returns the .npy type; bf16 and FP8, which .npy lacks, are stored as unsigned integers.
std::string_view type_text(FileType type) {
  switch (type) {
    case FileType::fp32: return "<f4";
    case FileType::fp16: return "<f2";
    case FileType::bf16: return "<u2";
    case FileType::fp8_e4m3:
    case FileType::fp8_e5m2: return "|u1";
    case FileType::fp64: return "<f8";
    case FileType::int8: return "|i1";
    case FileType::uint8: return "|u1";
    case FileType::int32: return "<i4";
    case FileType::int64: return "<i8";
  }
  throw std::logic_error("unknown type of a file's elements");
}

std::string header_of(FileType type, std::span<const std::uint64_t> shape) {
  constexpr std::string_view kMagicAndVersion{"\x93NUMPY\x01\x00", 8};
  constexpr std::size_t kLengthBytes = 2;
  constexpr std::size_t kAlignment = 64;  // data alignment (numpy.lib.format)
  std::string dictionary = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}",
                                       type_text(type), shape_text(shape));
  const std::size_t unpadded = kMagicAndVersion.size() + kLengthBytes + dictionary.size() + 1;
  dictionary.append((kAlignment - unpadded % kAlignment) % kAlignment, ' ');
  dictionary += '\n';
  const std::size_t length = dictionary.size();
  std::string header(kMagicAndVersion);
  header += static_cast<char>(length & 0xff);
  header += static_cast<char>(length >> 8);
  return header + dictionary;
}

void check_name(const fs::path& file) {
  if (file.extension() != ".npy") throw FileError(file, "its name must end in .npy");
}

}  // namespace

void write_npy(const fs::path& file, std::span<const std::uint64_t> shape,
               const ValueProducer& produce) {
  check_name(file);
  const std::uint64_t elements = count_elements(file, shape);
  ReplacementFile replacement(file);
  const std::string header = header_of(FileType::fp32, shape);
  replacement.write(std::as_bytes(std::span(header)));
  std::vector<float> piece(std::min<std::uint64_t>(elements, kElementsPerPiece));
  for (std::uint64_t first = 0; first < elements; first += piece.size()) {
    const std::span values =
        std::span(piece).first(std::min<std::uint64_t>(piece.size(), elements - first));
    produce(first, values);
    replacement.write(std::as_bytes(values));
  }
  replacement.replace();
}

NpyFile::NpyFile(const fs::path& file, FileType type, std::span<const std::uint64_t> shape) {
  check_name(file);
  const std::uint64_t elements = count_elements(file, shape);
  file_ = std::make_unique<ReplacementFile>(file);
  const std::string header = header_of(type, shape);
  file_->write(std::as_bytes(std::span(header)));
  data_ = file_->map(elements * element_bytes(type)).subspan(header.size());
}

NpyFile::NpyFile(NpyFile&&) noexcept = default;
NpyFile::~NpyFile() = default;

void NpyFile::keep() { file_->replace(); }

}  // namespace equarx::tensors
