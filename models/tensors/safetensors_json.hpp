#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "models/tensors/element_type.hpp"

namespace equarx::tensors {

/// Maximum header size that the format allows, in bytes.
inline constexpr std::uint64_t kMaxSafetensorsHeaderBytes = 100'000'000;

/// Returns the format's name of a type, such as "BF16".
std::string_view safetensors_type(FileType type);

/// Description of one tensor in the header of a .safetensors file.
struct SafetensorsEntry {
  std::string name;
  std::string type;
  std::vector<std::uint64_t> shape;
  std::array<std::uint64_t, 2> offsets{};  ///< begin and end, bytes from the start of the data
};

/// Parses a header; returns its tensors sorted by name. Throws FileError, naming `file`, if the
/// header is not JSON, is not an object of objects with the expected keys, or has duplicate keys.
/// `__metadata__` is validated and discarded. Memory use is a small multiple of the text size.
std::vector<SafetensorsEntry> parse_safetensors_json(const std::filesystem::path& file,
                                                     std::string_view text);

}  // namespace equarx::tensors
