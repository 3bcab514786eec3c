#include "experiments/sweep/line_fields.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"

namespace equarx::sweep {
namespace {

/// Collects fields from the events of the library's SAX parser.
class FieldReader {
 public:
  /// Collects the members of an object of the line, or the member with that name.
  explicit FieldReader(std::string_view name) : name_(name) {}

  std::vector<Field> take() { return std::move(fields_); }

  bool null() { return true; }
  bool boolean(bool value) { return put(value ? "true" : "false"); }
  bool number_integer(std::int64_t value) { return put(std::to_string(value)); }
  bool number_unsigned(std::uint64_t value) { return put(std::to_string(value)); }
  // Same digits as the library's serializer, which wrote the line.
  bool number_float(double /*value*/, const std::string& digits) { return put(digits); }
  bool string(std::string& value) { return put(std::move(value)); }
  bool binary(input::Json::binary_t& /*value*/) { return true; }  // never occurs in JSON text

  bool start_object(std::size_t /*unknown*/) {
    ends_.push_back(path_.size());
    return true;
  }
  bool end_object() {
    path_.resize(ends_.back());
    ends_.pop_back();
    return ends_.size() != 1 || !is_inside_;  // ends the reading after the object
  }
  bool start_array(std::size_t /*unknown*/) {
    ++arrays_;
    return true;
  }
  bool end_array() {
    --arrays_;
    return true;
  }
  bool key(const std::string& key) {
    if (ends_.size() == 1) {
      is_inside_ = key == name_;
      path_.clear();
      return true;
    }
    if (!is_inside_ || arrays_ > 0) return true;
    path_.resize(ends_.back());
    if (!path_.empty()) path_ += '/';
    path_ += key;
    return true;
  }

  template <typename Error>
  [[noreturn]] bool parse_error(std::size_t /*byte*/, const std::string& /*token*/,
                                const Error& error) {
    throw input::InputError("", fmt::format("not a line of a sweep: {}", error.what()));
  }

 private:
  bool put(std::string text) {
    if (is_inside_ && arrays_ == 0)
      fields_.push_back({path_.empty() ? std::string(name_) : path_, std::move(text)});
    return true;
  }

  std::string_view name_;
  bool is_inside_ = false;         ///< of the member of the line with that name
  std::string path_;               ///< of the last key inside
  std::vector<std::size_t> ends_;  ///< by open object: length of the path to it
  std::size_t arrays_ = 0;         ///< open ones
  std::vector<Field> fields_;
};

std::vector<Field> read(std::string_view line, std::string_view name) {
  FieldReader reader(name);
  input::Json::sax_parse(line, &reader);
  return reader.take();
}

}  // namespace

std::string field_text(const input::Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::vector<Field> run_of_line(std::string_view line) { return read(line, "run"); }

Field member_of_line(std::string_view line, std::string_view name) {
  std::vector<Field> fields = read(line, name);
  if (fields.size() != 1)
    throw input::InputError("", fmt::format("not a line of a sweep: it has no '{}'", name));
  return std::move(fields.front());
}

}  // namespace equarx::sweep
