#include "models/tensors/safetensors_writer.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <set>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "models/tensors/file_error.hpp"
#include "models/tensors/replacement_file.hpp"
#include "models/tensors/safetensors_json.hpp"
#include "models/tensors/tensor_layout.hpp"

namespace equarx::tensors {
namespace {

namespace fs = std::filesystem;

/// Begin and end of a tensor's elements, in bytes from the start of the data.
using Extent = std::array<std::uint64_t, 2>;

void check_names(const fs::path& file, std::span<const NewTensor> tensors) {
  if (file.extension() != ".safetensors")
    throw FileError(file, "its name must end in .safetensors");
  std::set<std::string> names = {"__metadata__"};
  for (const NewTensor& tensor : tensors)
    if (!names.insert(tensor.name).second)
      throw std::logic_error("tensor names must be unique within a file");
}

/// Packs the tensors without gaps, as the format requires; wider elements first, so that all are
/// aligned.
std::vector<Extent> extents_of(const fs::path& file, std::span<const NewTensor> tensors) {
  std::vector<std::size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, std::greater{},
                           [&](std::size_t i) { return element_bytes(tensors[i].type); });
  std::vector<Extent> extents(tensors.size());
  std::uint64_t end = 0;
  for (const std::size_t i : order) {
    const std::uint64_t begin = end;
    end += count_elements(file, tensors[i].shape) * element_bytes(tensors[i].type);
    extents[i] = {begin, end};
  }
  return extents;
}

/// Returns the length field and the header text, padded so that the data that follow are aligned.
std::string header_of(const fs::path& file, std::span<const NewTensor> tensors,
                      std::span<const Extent> extents) {
  auto json = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < tensors.size(); ++i)
    json[tensors[i].name] = {{"dtype", safetensors_type(tensors[i].type)},
                             {"shape", tensors[i].shape},
                             {"data_offsets", extents[i]}};
  std::string text = json.dump();
  text.append((sizeof(double) - text.size() % sizeof(double)) % sizeof(double), ' ');
  if (text.size() > kMaxSafetensorsHeaderBytes)
    throw FileError(file, "would need a longer header than the format allows");
  std::string length;
  for (unsigned byte = 0; byte < sizeof(std::uint64_t); ++byte)
    length += static_cast<char>(std::uint64_t{text.size()} >> (8 * byte) & 0xff);
  return length + text;
}

}  // namespace

SafetensorsFile::SafetensorsFile(const fs::path& file, std::span<const NewTensor> tensors) {
  check_names(file, tensors);
  const std::vector<Extent> extents = extents_of(file, tensors);
  const std::string header = header_of(file, tensors, extents);
  file_ = std::make_unique<ReplacementFile>(file);
  file_->write(std::as_bytes(std::span(header)));
  std::uint64_t bytes = 0;
  for (const auto& [begin, end] : extents) bytes = std::max(bytes, end);
  const std::span<std::byte> data = file_->map(bytes).subspan(header.size());
  for (const auto& [begin, end] : extents) data_.push_back(data.subspan(begin, end - begin));
}

SafetensorsFile::SafetensorsFile(SafetensorsFile&&) noexcept = default;
SafetensorsFile::~SafetensorsFile() = default;

void SafetensorsFile::keep() { file_->replace(); }

}  // namespace equarx::tensors
