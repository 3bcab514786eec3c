#include "models/tensors/npy_header.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "models/tensors/file_error.hpp"

namespace equarx::tensors {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kVersionBytes = 2;
/// Headers of plain arrays take about 100 bytes; only structured types, rejected here, need more.
constexpr std::size_t kMaxNpyHeaderBytes = 65536;

struct Header {
  std::string_view text;
  std::size_t end = 0;  ///< offset of the data
};

/// Values of the header's dictionary.
struct Entries {
  std::optional<std::string_view> descr;
  std::optional<bool> fortran_order;
  std::optional<std::vector<std::uint64_t>> shape;
};

/// Parses the subset of Python literals that numpy writes: one dictionary with three known keys.
class DictionaryReader {
 public:
  DictionaryReader(const fs::path& file, std::string_view text) : file_(file), rest_(text) {}

  Entries read() {
    Entries entries;
    expect('{');
    while (!accept('}')) {
      read_entry(entries);
      if (accept(',')) continue;
      expect('}');
      break;
    }
    skip_space();
    if (!rest_.empty()) malformed(fmt::format("{} follows the dictionary", in_quotes(rest_)));
    return entries;
  }

 private:
  void read_entry(Entries& entries) {
    const std::string_view key = read_string("a key");
    expect(':');
    if (key == "descr")
      store(entries.descr, key, read_descr());
    else if (key == "fortran_order")
      store(entries.fortran_order, key, read_bool());
    else if (key == "shape")
      store(entries.shape, key, read_shape());
    else
      malformed(fmt::format("unknown key {}", in_quotes(key)));
  }

  template <class Value>
  void store(std::optional<Value>& entry, std::string_view key, Value value) {
    if (entry) malformed(fmt::format("key {} appears twice", in_quotes(key)));
    entry = std::move(value);
  }

  std::string_view read_descr() {
    if (peek() == '[')
      throw FileError(file_, "holds a structured array; save one plain array of it");
    return read_string("the type");
  }

  bool read_bool() {
    skip_space();
    const std::size_t length = std::min(rest_.find_first_of(",} \n"), rest_.size());
    const std::string_view word = rest_.substr(0, length);
    if (word != "True" && word != "False")
      malformed(fmt::format("expected True or False, found {}", in_quotes(word)));
    rest_.remove_prefix(length);
    return word == "True";
  }

  std::vector<std::uint64_t> read_shape() {
    std::vector<std::uint64_t> shape;
    expect('(');
    bool comma = true;
    while (!accept(')')) {
      if (!comma) malformed("expected , or ) in the shape");
      shape.push_back(read_dimension());
      if (shape.size() > kMaxDimensions)
        throw FileError(file_, fmt::format("has more than {} dimensions", kMaxDimensions));
      comma = accept(',');
    }
    if (shape.size() == 1 && !comma) malformed("the shape is not a tuple");
    return shape;
  }

  std::uint64_t read_dimension() {
    const char first = peek();
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.begin(), rest_.end(), value);
    const std::size_t length = std::min(rest_.find_first_of(",) "), rest_.size());
    if (first == '-')
      throw FileError(file_, fmt::format("has the negative dimension {} in its shape",
                                         in_quotes(rest_.substr(0, length))));
    if (error == std::errc::result_out_of_range)
      throw FileError(file_, fmt::format("has the dimension {}, more than can be addressed",
                                         in_quotes(rest_.substr(0, length))));
    if (error != std::errc())
      malformed(fmt::format("expected a dimension, found {}", in_quotes(rest_.substr(0, length))));
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.begin()));
    return value;
  }

  std::string_view read_string(std::string_view what) {
    const char quote = peek();
    if (quote != '\'' && quote != '"') malformed(fmt::format("expected {} in quotes", what));
    const std::size_t end = rest_.find(quote, 1);
    if (end == std::string_view::npos) malformed("a string is not terminated");
    const std::string_view text = rest_.substr(1, end - 1);
    if (text.find('\\') != std::string_view::npos)
      malformed(fmt::format("a backslash in {}", in_quotes(text)));
    rest_.remove_prefix(end + 1);
    return text;
  }

  void skip_space() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
  }

  /// Returns the next character that is not white space; 0 at the end.
  char peek() {
    skip_space();
    return rest_.empty() ? '\0' : rest_.front();
  }

  bool accept(char expected) {
    if (peek() != expected) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void expect(char expected) {
    if (!accept(expected))
      malformed(rest_.empty() ? fmt::format("it ends where {} is expected", expected)
                              : fmt::format("expected {}, found {}", expected, in_quotes(rest_)));
  }

  [[noreturn]] void malformed(std::string_view problem) const {
    throw FileError(file_, fmt::format("malformed .npy header: {}", problem));
  }

  const fs::path& file_;
  std::string_view rest_;
};

[[noreturn]] void truncated_header(const fs::path& file) {
  throw FileError(file, "is truncated in its header; copy or save it again");
}

Header find_npy_header(const fs::path& file, std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!text.starts_with(kMagic)) {
    if (kMagic.starts_with(text)) truncated_header(file);
    throw FileError(file, "is not a .npy file; write it with numpy.save()");
  }
  if (text.size() < kMagic.size() + kVersionBytes) truncated_header(file);
  const auto byte_at = [&](std::size_t i) { return std::to_integer<std::size_t>(bytes[i]); };
  const std::size_t major = byte_at(kMagic.size());
  const std::size_t minor = byte_at(kMagic.size() + 1);
  if (major < 1 || major > 3 || minor != 0)
    throw FileError(file, fmt::format("has the unsupported .npy version {}.{}; use 1.0, 2.0 or 3.0",
                                      major, minor));
  const std::size_t length_bytes = major == 1 ? sizeof(std::uint16_t) : sizeof(std::uint32_t);
  const std::size_t start = kMagic.size() + kVersionBytes + length_bytes;
  if (text.size() < start) truncated_header(file);
  std::size_t length = 0;
  for (std::size_t i = 1; i <= length_bytes; ++i) length = length << 8 | byte_at(start - i);
  if (length > kMaxNpyHeaderBytes)
    throw FileError(file, fmt::format("malformed .npy header: its length is {} bytes, more than {}",
                                      length, kMaxNpyHeaderBytes));
  if (length > text.size() - start) truncated_header(file);
  return {text.substr(start, length), start + length};
}

FileType type_of(const fs::path& file, std::string_view descr) {
  if (descr == "<f4") return FileType::fp32;
  if (descr == "<f2") return FileType::fp16;
  if (descr == "<u2") return FileType::bf16;
  if (descr.starts_with('>'))
    throw FileError(file,
                    fmt::format("is big-endian ({}); save array.astype('<f4')", in_quotes(descr)));
  if (descr.ends_with("V2"))
    throw FileError(file, fmt::format("has the opaque type {}; save bf16 as array.view('<u2')",
                                      in_quotes(descr)));
  if (descr.ends_with("V1") || descr.ends_with("u1") || descr.ends_with("f1"))
    throw FileError(file, fmt::format("has type {}, but .npy has no FP8 type; save it as "
                                      ".safetensors (F8_E4M3, F8_E5M2)",
                                      in_quotes(descr)));
  throw FileError(file, fmt::format("has type {}, not '<f4', '<f2' or '<u2' (bf16 bits); save "
                                    "array.astype('<f4')",
                                    in_quotes(descr)));
}

}  // namespace

TensorLayout read_npy_header(const fs::path& file, std::span<const std::byte> bytes) {
  const Header header = find_npy_header(file, bytes);
  Entries entries = DictionaryReader(file, header.text).read();
  if (!entries.descr || !entries.fortran_order || !entries.shape)
    throw FileError(file, "malformed .npy header: one of descr, fortran_order, shape is missing");
  TensorLayout layout;
  layout.type = type_of(file, *entries.descr);
  if (*entries.fortran_order)
    throw FileError(file, "is in Fortran order; save numpy.ascontiguousarray(array)");
  layout.elements = count_elements(file, *entries.shape);
  layout.shape = *std::move(entries.shape);
  layout.offset = header.end;
  const std::uint64_t expected = layout.elements * element_bytes(layout.type);
  const std::uint64_t present = bytes.size() - header.end;
  if (present < expected)
    throw FileError(file, fmt::format("is truncated: shape {} needs {} bytes of data, it has {}; "
                                      "copy or save it again",
                                      shape_text(layout.shape), expected, present));
  if (present > expected)
    throw FileError(file, fmt::format("has {} bytes of data, more than the {} of its shape {}; "
                                      "save one array to a file",
                                      present, expected, shape_text(layout.shape)));
  return layout;
}

}  // namespace equarx::tensors
