// The tensors of one weight in a .safetensors file.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/checkpoints/code_matrix.hpp"
#include "models/formats/block_format.hpp"
#include "models/tensors/safetensors_reader.hpp"
#include "models/tensors/safetensors_writer.hpp"

namespace equarx::checkpoints {

/// A tensor to write, named within its weight, such as "qweight".
struct Part {
  tensors::NewTensor tensor;
  std::vector<std::byte> bytes;
};

/// Values in the type of elements.
template <typename T>
Part part_of(std::string name, tensors::FileType type, const Matrix<T>& matrix) {
  const auto bytes = std::as_bytes(std::span(matrix.data));
  return {{std::move(name), type, {matrix.rows, matrix.columns}}, {bytes.begin(), bytes.end()}};
}

/// Scales in FP32, FP16, BF16, or as the codes of E8M0 (uint8) and E4M3, without rounding.
Part scales_part(std::string name, numerics::ScaleFormat type, const Matrix<float>& scales);

/// Name of a tensor of a weight; a weight without name has its parts' names.
std::string part_name(std::string_view weight, std::string_view part);

/// Writes the tensors of a weight. Throws FileError as tensors::SafetensorsFile.
void write_parts(const std::filesystem::path& path, std::string_view weight,
                 const std::vector<Part>& parts);

/// Scales with their type.
struct Scales {
  numerics::ScaleFormat type;
  Matrix<float> values;
};

/// Tensors of one weight. All readers throw FileError, naming the tensor, for one that is missing,
/// of another type, or not a matrix of the shape.
class PartReader {
 public:
  PartReader(const tensors::SafetensorsReader& file, std::string weight)
      : file_(file), weight_(std::move(weight)) {}

  bool has(std::string_view part) const;
  /// Type in the file, such as "I32"; empty if there is no such tensor.
  std::string type(std::string_view part) const;

  Words words(std::string_view part) const;
  /// Elements of one byte.
  Codes codes(std::string_view part, tensors::FileType type) const;
  /// All numbers of int32, of any shape.
  std::vector<std::int32_t> list(std::string_view part) const;
  /// All numbers of int64, of any shape.
  std::vector<std::int64_t> numbers(std::string_view part) const;
  /// FP32, FP16 or BF16.
  Scales scales(std::string_view part) const;
  /// A single FP32 number.
  float number(std::string_view part) const;
  /// Codes of E8M0 (uint8) or E4M3.
  Scales scale_codes(std::string_view part, numerics::ScaleFormat type) const;

  /// Throws FileError at a tensor.
  [[noreturn]] void refuse(std::string_view part, std::string_view problem) const;

 private:
  const tensors::SafetensorsEntry& entry(std::string_view part) const;
  std::span<const std::byte> elements(std::string_view part, tensors::FileType type) const;
  template <typename T>
  std::vector<T> all(std::string_view part, tensors::FileType type) const;
  template <typename T>
  Matrix<T> matrix(std::string_view part, tensors::FileType type) const;

  const tensors::SafetensorsReader& file_;
  std::string weight_;
};

}  // namespace equarx::checkpoints
