#include "models/tensors/safetensors_reader.hpp"

#include <algorithm>

namespace equarx::tensors {

SafetensorsReader::SafetensorsReader(const std::filesystem::path& file)
    : path_(file), file_(file), header_(read_safetensors_entries(file, file_.bytes())) {}

const SafetensorsEntry* SafetensorsReader::find(std::string_view name) const {
  const auto found = std::ranges::find(header_.tensors, name, &SafetensorsEntry::name);
  return found == header_.tensors.end() ? nullptr : &*found;
}

std::span<const std::byte> SafetensorsReader::elements(const SafetensorsEntry& entry,
                                                       std::size_t element_bytes) const {
  check_size(path_, entry, element_bytes);
  return file_.bytes().subspan(header_.data_start + entry.offsets[0],
                               entry.offsets[1] - entry.offsets[0]);
}

}  // namespace equarx::tensors
