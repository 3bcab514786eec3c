// Tensor files byte by byte, independent of the code under test.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/tensors/file_error.hpp"
#include "models/tensors/npy_writer.hpp"
#include "models/tensors/tensor_file.hpp"
#include "tests/catch.hpp"
#include "tests/support/run_command.hpp"

namespace equarx::testing {

inline std::string little_endian(std::uint64_t value, std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) text += static_cast<char>(value >> 8 * i & 0xff);
  return text;
}

/// Stored elements, little-endian.
template <class Element>
std::string stored(std::initializer_list<Element> elements) {
  std::string text;
  for (const Element element : elements) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &element, sizeof element);
    text += little_endian(bits, sizeof element);
  }
  return text;
}

inline std::string npy(const std::string& header, const std::string& data, int major = 1) {
  const std::string version = {static_cast<char>(major), '\0'};
  return "\x93NUMPY" + version + little_endian(header.size(), major == 1 ? 2 : 4) + header + data;
}

/// The header as written by numpy, except that the data is not aligned.
inline std::string npy_header(const std::string& descr, const std::string& shape) {
  return "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }\n";
}

inline std::string safetensors(const std::string& header, const std::string& data) {
  return little_endian(header.size(), 8) + header + data;
}

inline std::string safetensors_entry(const std::string& name, const std::string& type,
                                     const std::string& shape, std::uint64_t begin,
                                     std::uint64_t end) {
  return "\"" + name + "\":{\"dtype\":\"" + type + "\",\"shape\":" + shape + ",\"data_offsets\":[" +
         std::to_string(begin) + "," + std::to_string(end) + "]}";
}

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

inline std::vector<float> read_all(const tensors::TensorFile& file) {
  std::vector<float> values(file.elements());
  file.read(0, values);
  return values;
}

inline std::vector<std::uint64_t> shape_of(const tensors::TensorFile& file) {
  return {file.shape().begin(), file.shape().end()};
}

/// Returns the message of the FileError that `act` must throw: one short, printable line.
template <class Act>
std::string file_error_of(Act act) {
  std::string message;
  try {
    act();
    FAIL("no FileError was thrown");
  } catch (const tensors::FileError& error) {
    message = error.what();
  }
  CAPTURE(message);
  constexpr std::size_t kLongestLine = 2000;
  CHECK(message.size() < kLongestLine);
  for (const char c : message) CHECK((static_cast<unsigned char>(c) >= ' ' && c != '\x7f'));
  return message;
}

/// Writes values as .npy of float32, and opens the file.
inline tensors::TensorFile npy_file(const std::filesystem::path& path,
                                    const std::vector<float>& values,
                                    const std::vector<std::uint64_t>& shape) {
  tensors::write_npy(path, shape, [&](std::uint64_t first, std::span<float> piece) {
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(first), piece.size(), piece.begin());
  });
  return tensors::TensorFile::open(path);
}

}  // namespace equarx::testing
