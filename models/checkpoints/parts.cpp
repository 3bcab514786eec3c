#include "models/checkpoints/parts.hpp"

#include <cmath>
#include <cstring>
#include <stdexcept>

#include <fmt/format.h>

#include "models/numerics/elements/bfloat16.hpp"
#include "models/numerics/elements/float16.hpp"
#include "models/numerics/elements/minifloat.hpp"
#include "models/tensors/file_error.hpp"

namespace equarx::checkpoints {
namespace {

using numerics::ScaleFormat;
using tensors::FileType;

constexpr int kExponentBias = 127;

template <typename Code, typename Encode>
Part coded(std::string name, FileType type, const Matrix<float>& scales, Encode encode) {
  Matrix<Code> codes(scales.rows, scales.columns);
  std::ranges::transform(scales.data, codes.data.begin(),
                         [&](float scale) { return static_cast<Code>(encode(scale)); });
  return part_of(std::move(name), type, codes);
}

float decoded(std::uint8_t code, ScaleFormat type) {
  if (type == ScaleFormat::e8m0) return std::ldexp(1.0F, code - kExponentBias);
  return numerics::Fp8E4m3::decode(code);
}

}  // namespace

Part scales_part(std::string name, ScaleFormat type, const Matrix<float>& scales) {
  switch (type) {
    case ScaleFormat::fp32: return part_of(std::move(name), FileType::fp32, scales);
    case ScaleFormat::fp16:
      return coded<std::uint16_t>(std::move(name), FileType::fp16, scales,
                                  numerics::fp16_from_float);
    case ScaleFormat::bf16:
      return coded<std::uint16_t>(std::move(name), FileType::bf16, scales,
                                  numerics::bf16_from_float);
    case ScaleFormat::e4m3:
      return coded<std::uint8_t>(std::move(name), FileType::fp8_e4m3, scales,
                                 numerics::Fp8E4m3::encode);
    case ScaleFormat::e8m0: break;
  }
  return coded<std::uint8_t>(std::move(name), FileType::uint8, scales,
                             [](float scale) { return std::ilogb(scale) + kExponentBias; });
}

std::string part_name(std::string_view weight, std::string_view part) {
  return weight.empty() ? std::string(part) : fmt::format("{}.{}", weight, part);
}

void write_parts(const std::filesystem::path& path, std::string_view weight,
                 const std::vector<Part>& parts) {
  std::vector<tensors::NewTensor> named;
  for (const Part& part : parts) {
    named.push_back(part.tensor);
    named.back().name = part_name(weight, part.tensor.name);
  }
  tensors::SafetensorsFile file(path, named);
  for (std::size_t i = 0; i < parts.size(); ++i)
    std::ranges::copy(parts[i].bytes, file.data(i).begin());
  file.keep();
}

bool PartReader::has(std::string_view part) const {
  return file_.find(part_name(weight_, part)) != nullptr;
}

std::string PartReader::type(std::string_view part) const {
  const tensors::SafetensorsEntry* found = file_.find(part_name(weight_, part));
  return found == nullptr ? "" : found->type;
}

void PartReader::refuse(std::string_view part, std::string_view problem) const {
  throw tensors::FileError(
      file_.path(),
      fmt::format("tensor {} {}", tensors::in_quotes(part_name(weight_, part)), problem));
}

const tensors::SafetensorsEntry& PartReader::entry(std::string_view part) const {
  const tensors::SafetensorsEntry* found = file_.find(part_name(weight_, part));
  if (found == nullptr) refuse(part, "is missing; save all tensors of the layer");
  return *found;
}

std::span<const std::byte> PartReader::elements(std::string_view part, FileType type) const {
  const tensors::SafetensorsEntry& found = entry(part);
  const std::string_view expected = tensors::safetensors_type(type);
  if (found.type != expected)
    refuse(part, fmt::format("has type {}, not {}; save it in the layout's type",
                             tensors::in_quotes(found.type), expected));
  return file_.elements(found, tensors::element_bytes(type));
}

template <typename T>
std::vector<T> PartReader::all(std::string_view part, FileType type) const {
  const std::span<const std::byte> bytes = elements(part, type);
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

template <typename T>
Matrix<T> PartReader::matrix(std::string_view part, FileType type) const {
  std::vector<T> values = all<T>(part, type);
  const std::vector<std::uint64_t>& shape = entry(part).shape;
  if (shape.size() != 2)
    refuse(part,
           fmt::format("has shape {}; a matrix has two dimensions", tensors::shape_text(shape)));
  Matrix<T> matrix;
  matrix.rows = shape[0];
  matrix.columns = shape[1];
  matrix.data = std::move(values);
  return matrix;
}

Words PartReader::words(std::string_view part) const {
  return matrix<std::int32_t>(part, FileType::int32);
}

Codes PartReader::codes(std::string_view part, FileType type) const {
  return matrix<std::uint8_t>(part, type);
}

std::vector<std::int64_t> PartReader::numbers(std::string_view part) const {
  return all<std::int64_t>(part, FileType::int64);
}

std::vector<std::int32_t> PartReader::list(std::string_view part) const {
  return all<std::int32_t>(part, FileType::int32);
}

Scales PartReader::scales(std::string_view part) const {
  const std::string& type = entry(part).type;
  for (const auto& [scale, file] :
       {std::pair{ScaleFormat::fp16, FileType::fp16}, std::pair{ScaleFormat::bf16, FileType::bf16},
        std::pair{ScaleFormat::fp32, FileType::fp32}}) {
    if (type != tensors::safetensors_type(file)) continue;
    const std::vector<std::uint64_t>& shape = entry(part).shape;
    if (shape.size() != 2) refuse(part, "is not a matrix; save a scale for each group");
    Scales scales{scale, {static_cast<std::size_t>(shape[0]), static_cast<std::size_t>(shape[1])}};
    tensors::convert_elements(file, elements(part, file), scales.values.data);
    return scales;
  }
  refuse(part,
         fmt::format("has type {}, not F16, BF16 or F32; convert it", tensors::in_quotes(type)));
}

float PartReader::number(std::string_view part) const {
  const std::vector<float> numbers = all<float>(part, FileType::fp32);
  if (numbers.size() != 1) refuse(part, "is not a single number");
  return numbers.front();
}

Scales PartReader::scale_codes(std::string_view part, ScaleFormat type) const {
  const FileType stored = type == ScaleFormat::e8m0 ? FileType::uint8 : FileType::fp8_e4m3;
  const Codes bytes = codes(part, stored);
  Scales scales{type, {bytes.rows, bytes.columns}};
  std::ranges::transform(bytes.data, scales.values.data.begin(),
                         [&](std::uint8_t code) { return decoded(code, type); });
  return scales;
}

}  // namespace equarx::checkpoints
