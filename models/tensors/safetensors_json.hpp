#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "models/tensors/element_type.hpp"

namespace equarx::tensors {

/// The longest header that the format allows, in bytes.
inline constexpr std::uint64_t kMaxSafetensorsHeaderBytes = 100'000'000;

/// What the format calls a type, like "BF16".
std::string_view safetensors_type(FileType type);

/// One tensor as the header of a .safetensors file describes it.
struct SafetensorsEntry {
  std::string name;
  std::string type;
  std::vector<std::uint64_t> shape;
  std::array<std::uint64_t, 2> offsets{};  ///< begin and end, bytes from the start of the data
};

/// The tensors of a header, sorted by name. FileError about `file` if it is not JSON, not an object of
/// objects with the right keys, or has duplicate keys. `__metadata__` is checked and forgotten.
/// Memory is a small multiple of the text's.
std::vector<SafetensorsEntry> parse_safetensors_json(const std::filesystem::path& file,
                                                     std::string_view text);

}  // namespace equarx::tensors
