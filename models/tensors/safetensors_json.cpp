#include "models/tensors/safetensors_json.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "models/tensors/file_error.hpp"
#include "models/tensors/tensor_layout.hpp"

namespace equarx::tensors {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::string_view kMetadata = "__metadata__";

/// SAX handler: a DOM could be many times larger than the text, and nested arbitrarily deep.
class HeaderHandler : public Json::json_sax_t {
 public:
  explicit HeaderHandler(const fs::path& file) : file_(file) {}

  std::vector<SafetensorsEntry> take_entries() {
    std::ranges::sort(entries_, {}, &SafetensorsEntry::name);
    const auto twice = std::ranges::adjacent_find(entries_, {}, &SafetensorsEntry::name);
    if (twice != entries_.end()) appears_twice(twice->name);
    return std::move(entries_);
  }

  bool start_object(std::size_t) override {
    if (context_ == Context::document)
      context_ = Context::tensors;
    else if (context_ == Context::tensors)
      enter_member();
    else
      malformed("unexpected object");
    return true;
  }

  bool key(std::string& key) override {
    if (context_ == Context::tensors) member_ = key;
    if (context_ == Context::tensor) enter_field(key);
    return true;
  }

  bool end_object() override {
    if (context_ == Context::tensor) check_complete();
    context_ = context_ == Context::tensors ? Context::document : Context::tensors;
    return true;
  }

  bool start_array(std::size_t) override {
    const bool expected = context_ == Context::tensor && fields_.back() != "dtype";
    if (!expected) malformed("unexpected array");
    context_ = Context::numbers;
    return true;
  }

  bool end_array() override {
    context_ = Context::tensor;
    return true;
  }

  bool string(std::string& text) override {
    if (context_ == Context::metadata) return true;
    if (context_ != Context::tensor || fields_.back() != "dtype")
      malformed(fmt::format("unexpected string {}", in_quotes(text)));
    entries_.back().type = text;
    return true;
  }

  bool number_unsigned(std::uint64_t number) override {
    if (context_ != Context::numbers) malformed("unexpected number");
    SafetensorsEntry& entry = entries_.back();
    const bool is_shape = fields_.back() == "shape";
    const std::size_t most = is_shape ? kMaxDimensions : entry.offsets.size();
    const std::size_t before = is_shape ? entry.shape.size() : offsets_;
    if (before == most)
      malformed(fmt::format("more than {} numbers in {}{}", most, fields_.back(), of_tensor()));
    if (is_shape)
      entry.shape.push_back(number);
    else
      entry.offsets[offsets_++] = number;
    return true;
  }

  bool number_integer(std::int64_t number) override {
    malformed(fmt::format("negative number {}{}", number, of_tensor()));
  }

  bool number_float(double, const std::string& text) override {
    malformed(fmt::format("number {} is not a 64-bit integer{}", in_quotes(text), of_tensor()));
  }

  bool null() override { malformed("unexpected null"); }
  bool boolean(bool) override { malformed("unexpected boolean"); }
  bool binary(Json::binary_t&) override { malformed("unexpected binary data"); }

  bool parse_error(std::size_t position, const std::string&, const Json::exception&) override {
    malformed(fmt::format("not JSON at byte {}", position));
  }

 private:
  /// Enclosing element of the next value.
  enum class Context { document, tensors, metadata, tensor, numbers };

  void enter_member() {
    if (member_ == kMetadata) {
      if (std::exchange(has_metadata_, true)) appears_twice(member_);
      context_ = Context::metadata;
      return;
    }
    context_ = Context::tensor;
    entries_.push_back({member_, {}, {}, {}});
    fields_.clear();
    offsets_ = 0;
  }

  void enter_field(const std::string& key) {
    if (std::ranges::find(fields_, key) != fields_.end()) appears_twice(key);
    fields_.push_back(key);
    if (key != "dtype" && key != "shape" && key != "data_offsets")
      malformed(fmt::format("unknown key {}{}", in_quotes(key), of_tensor()));
  }

  void check_complete() const {
    if (fields_.size() != 3)
      malformed(fmt::format("one of dtype, shape, data_offsets is missing{}", of_tensor()));
    if (offsets_ != entries_.back().offsets.size())
      malformed(fmt::format("data_offsets are not two numbers{}", of_tensor()));
  }

  [[noreturn]] void appears_twice(std::string_view key) const {
    malformed(fmt::format("key {} appears twice{}", in_quotes(key), of_tensor()));
  }

  std::string of_tensor() const {
    const bool inside = context_ == Context::tensor || context_ == Context::numbers;
    return inside ? fmt::format(" (tensor {})", in_quotes(entries_.back().name)) : "";
  }

  [[noreturn]] void malformed(std::string_view problem) const {
    throw FileError(file_, fmt::format("malformed safetensors header: {}", problem));
  }

  const fs::path& file_;
  Context context_ = Context::document;
  std::vector<SafetensorsEntry> entries_;
  bool has_metadata_ = false;
  std::string member_;               ///< latest key of the outer object
  std::vector<std::string> fields_;  ///< keys of the current tensor so far
  std::size_t offsets_ = 0;          ///< elements of its data_offsets so far
};

}  // namespace

std::string_view safetensors_type(FileType type) {
  switch (type) {
    case FileType::fp32: return "F32";
    case FileType::fp16: return "F16";
    case FileType::bf16: return "BF16";
    case FileType::fp8_e4m3: return "F8_E4M3";
    case FileType::fp8_e5m2: return "F8_E5M2";
    case FileType::fp64: return "F64";
    case FileType::int8: return "I8";
    case FileType::uint8: return "U8";
    case FileType::int32: return "I32";
    case FileType::int64: return "I64";
  }
  throw std::logic_error("unknown type of a file's elements");
}

std::vector<SafetensorsEntry> parse_safetensors_json(const fs::path& file, std::string_view text) {
  // The library would skip a byte order mark and ignore everything after a zero byte.
  if (!text.starts_with('{'))
    throw FileError(file, "malformed safetensors header: it does not begin with {");
  if (text.find('\0') != std::string_view::npos)
    throw FileError(file, "malformed safetensors header: it holds a zero byte");
  HeaderHandler handler(file);
  Json::sax_parse(text, &handler);
  return handler.take_entries();
}

}  // namespace equarx::tensors
