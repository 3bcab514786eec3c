#include "importers/common/machine_text.hpp"

#include <charconv>
#include <filesystem>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "base/units/quantity.hpp"

namespace equarx::imports {
namespace {

constexpr std::uint64_t kMaxChips = 1 << 24;

}  // namespace

std::optional<std::uint64_t> whole_number(std::string_view text, std::uint64_t most) {
  std::uint64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || problem != std::errc() || end != text.data() + text.size() || number > most)
    return std::nullopt;
  return number;
}

input::JsonValue topology_json(const std::string& text, std::string_view what) {
  using input::Json;
  if (text.empty())
    throw input::InputError(
        "",
        fmt::format("--topology: give the machine that {} runs on, like 4x4 or fully-connected:8",
                    what));
  if (text.front() == '{') return input::parse_json(text);
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) return Json{{"slice", text}};
  const std::string value = text.substr(colon + 1);
  const auto chips = whole_number(value, kMaxChips);
  return Json{{text.substr(0, colon), chips ? Json(*chips) : Json(value)}};
}

std::string read_limited_file(const std::string& path, std::uintmax_t most_bytes,
                              std::string_view what) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (!error && size > most_bytes)
    throw input::InputError("", fmt::format("{} has {}; the limit for {} is {}", path,
                                            units::bytes_text(static_cast<double>(size)), what,
                                            units::bytes_text(static_cast<double>(most_bytes))));
  return input::read_file(path);
}

}  // namespace equarx::imports
