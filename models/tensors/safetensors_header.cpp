#include "models/tensors/safetensors_header.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "models/tensors/file_error.hpp"
#include "models/tensors/safetensors_json.hpp"

namespace equarx::tensors {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLengthBytes = sizeof(std::uint64_t);
constexpr std::size_t kMostNamesShown = 5;

std::string_view find_safetensors_header(const fs::path& file, std::span<const std::byte> bytes) {
  if (bytes.size() < kLengthBytes)
    throw FileError(file, "is truncated in its header; copy or save it again");
  std::uint64_t length = 0;
  for (std::size_t i = kLengthBytes; i > 0; --i)
    length = length << 8 | std::to_integer<std::uint64_t>(bytes[i - 1]);
  if (length > kMaxSafetensorsHeaderBytes)
    throw FileError(file, fmt::format("is not a safetensors file: its header would have {} bytes, "
                                      "more than {}",
                                      length, kMaxSafetensorsHeaderBytes));
  if (length > bytes.size() - kLengthBytes)
    throw FileError(file, "is truncated in its header; copy or save it again");
  return {reinterpret_cast<const char*>(bytes.data()) + kLengthBytes,
          static_cast<std::size_t>(length)};
}

/// Sorts the tensors by offset and checks that they fill `data_bytes` bytes without gaps or
/// overlaps.
void check_offsets(const fs::path& file, std::vector<SafetensorsEntry>& entries,
                   std::uint64_t data_bytes) {
  std::ranges::sort(entries, {}, &SafetensorsEntry::offsets);
  std::uint64_t filled = 0;
  for (const SafetensorsEntry& entry : entries) {
    const std::uint64_t begin = entry.offsets[0];
    const std::uint64_t end = entry.offsets[1];
    const auto fail = [&](std::string_view problem) {
      throw FileError(file, fmt::format("tensor {} at bytes {} to {} {}", in_quotes(entry.name),
                                        begin, end, problem));
    };
    if (end < begin) fail("ends before it begins; the header is malformed");
    if (end > data_bytes)
      fail(fmt::format("is outside the {} bytes of data; if the file is truncated, copy it again",
                       data_bytes));
    if (begin < filled) fail("overlaps another; the header is malformed");
    if (begin > filled) fail(fmt::format("leaves a hole after byte {}", filled));
    filled = end;
  }
  if (filled != data_bytes)
    throw FileError(file,
                    fmt::format("has {} bytes of data, but its tensors only {}; save it again",
                                data_bytes, filled));
}

std::string names_of(const std::vector<SafetensorsEntry>& entries) {
  std::string names;
  for (const SafetensorsEntry& entry : entries) {
    if (&entry - entries.data() == kMostNamesShown) return names + ", ...";
    names += (names.empty() ? "" : ", ") + in_quotes(entry.name);
  }
  return names;
}

const SafetensorsEntry& choose(const fs::path& file, const std::vector<SafetensorsEntry>& entries,
                               std::optional<std::string_view> name) {
  if (entries.empty()) throw FileError(file, "holds no tensor");
  if (!name) {
    if (entries.size() == 1) return entries.front();
    throw NoTensorNamed(file, fmt::format("holds {} tensors ({}); name one of them", entries.size(),
                                          names_of(entries)));
  }
  const auto found = std::ranges::find(entries, *name, &SafetensorsEntry::name);
  if (found == entries.end())
    throw FileError(
        file, fmt::format("has no tensor {}; it has {}", in_quotes(*name), names_of(entries)));
  return *found;
}

FileType type_of(const fs::path& file, const SafetensorsEntry& entry) {
  for (const FileType type :
       {FileType::fp32, FileType::fp16, FileType::bf16, FileType::fp8_e4m3, FileType::fp8_e5m2})
    if (entry.type == safetensors_type(type)) return type;
  throw FileError(
      file, fmt::format("tensor {} has type {}, not F32, F16, BF16, F8_E4M3 or F8_E5M2; convert it",
                        in_quotes(entry.name), in_quotes(entry.type)));
}

}  // namespace

SafetensorsHeader read_safetensors_entries(const fs::path& file, std::span<const std::byte> bytes) {
  const std::string_view text = find_safetensors_header(file, bytes);
  SafetensorsHeader header{parse_safetensors_json(file, text), kLengthBytes + text.size()};
  check_offsets(file, header.tensors, bytes.size() - header.data_start);
  return header;
}

void check_size(const fs::path& file, const SafetensorsEntry& entry, std::size_t element_bytes) {
  const std::uint64_t elements = entry.shape.empty() ? 1 : count_elements(file, entry.shape);
  const std::uint64_t expected = elements * element_bytes;
  const std::uint64_t present = entry.offsets[1] - entry.offsets[0];
  if (present != expected)
    throw FileError(file,
                    fmt::format("tensor {} has {} bytes of data, but its shape {} needs {}; "
                                "the header is malformed",
                                in_quotes(entry.name), present, shape_text(entry.shape), expected));
}

TensorLayout read_safetensors_header(const fs::path& file, std::span<const std::byte> bytes,
                                     std::optional<std::string_view> name) {
  const auto [entries, data_start] = read_safetensors_entries(file, bytes);
  const SafetensorsEntry& entry = choose(file, entries, name);
  TensorLayout layout;
  layout.type = type_of(file, entry);
  layout.elements = count_elements(file, entry.shape);
  layout.shape = entry.shape;
  layout.offset = data_start + entry.offsets[0];
  check_size(file, entry, element_bytes(layout.type));
  return layout;
}

}  // namespace equarx::tensors
