#include "base/input/strict_json.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"

namespace equarx::input {
namespace {

/// Builds the value from the events of the library's SAX parser. The library's callback parser
/// could check keys as well, but takes a third longer.
class StrictBuilder {
 public:
  Json take() { return std::move(root_); }

  bool null() { return put(nullptr); }
  bool boolean(bool value) { return put(value); }
  bool number_integer(std::int64_t value) { return put(value); }
  bool number_unsigned(std::uint64_t value) { return put(value); }
  bool number_float(double value, const std::string& /*digits*/) { return put(value); }
  bool string(std::string& value) { return put(std::move(value)); }
  bool binary(Json::binary_t& value) { return put(std::move(value)); }  // never occurs in JSON text

  bool start_object(std::size_t /*unknown*/) {
    Json::object_t members;
    members.reserve(kUsualMembers);
    return open(std::move(members));
  }
  bool start_array(std::size_t /*unknown*/) { return open(Json::array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool key(std::string& key) {
    auto& members = open_.back()->get_ref<Json::object_t&>();
    const auto [member, is_new] = members.emplace(key, nullptr);
    if (!is_new) duplicate_key(key);
    value_of_key_ = &member->second;
    return true;
  }

  template <typename Error>
  [[noreturn]] bool parse_error(std::size_t /*byte*/, const std::string& /*token*/,
                                const Error& error) {
    throw error;
  }

 private:
  template <typename Value>
  bool put(Value&& value) {
    next_slot() = std::forward<Value>(value);
    return true;
  }

  /// Avoids reallocation: growing an object of the library copies its members deeply.
  static constexpr std::size_t kUsualMembers = 8;

  template <typename Container>
  bool open(Container&& container) {
    constexpr std::size_t kDeepest = 100;  // configurations and results need about ten
    if (open_.size() == kDeepest)
      throw InputError("", fmt::format("not valid here: nested more than {} deep", kDeepest));
    Json& slot = next_slot();
    slot = std::forward<Container>(container);
    open_.push_back(&slot);
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  Json& next_slot() {
    if (open_.empty()) return root_;
    if (open_.back()->is_object()) return *value_of_key_;
    return open_.back()->get_ref<Json::array_t&>().emplace_back();
  }

  /// Every open container is the last value of its parent.
  [[noreturn]] void duplicate_key(const std::string& key) const {
    Json::json_pointer pointer;
    for (const Json* level : open_)
      pointer.push_back(level->is_array() ? std::to_string(level->size() - 1)
                        : level == open_.back()
                            ? key
                            : level->get_ref<const Json::object_t&>().back().first);
    throw InputError(pointer.to_string(), fmt::format("duplicate key '{}'; remove one", key));
  }

  Json root_;
  /// Open objects and arrays, the outermost first. Their addresses are stable: a parent does not
  /// grow while a child is open.
  std::vector<Json*> open_;
  Json* value_of_key_ = nullptr;  ///< value of the last key of the innermost object
};

}  // namespace

Json parse_strictly(std::string_view text, Comments comments) {
  constexpr bool kWholeText = true;
  StrictBuilder builder;
  Json::sax_parse(text, &builder, Json::input_format_t::json, kWholeText,
                  comments == Comments::allowed);
  return builder.take();
}

}  // namespace equarx::input
