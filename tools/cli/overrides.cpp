#include "tools/cli/overrides.hpp"

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "experiments/config/set_value.hpp"

namespace equarx::cli {

std::string pointer_of_override(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || !text.starts_with('/'))
    throw input::InputError("",
                            fmt::format("--set {}: expected a JSON pointer, '=' and a value, like "
                                        "'/tensor/bytes=8 MiB'",
                                        text));
  return text.substr(0, equals);
}

void apply_overrides(input::Json& config, const Overrides& overrides) {
  for (const std::string& pointer : overrides.unset) {
    try {
      config::unset_value(config, pointer);
    } catch (const input::InputError& error) {
      throw input::InputError("", fmt::format("--unset {}", error.what()));
    }
  }
  for (const std::string& text : overrides.set) {
    const std::string pointer = pointer_of_override(text);
    const std::string value = text.substr(pointer.size() + 1);
    if (value == "null")
      throw input::InputError(
          "", fmt::format("--set {}: no key takes null; remove it by --unset {}", text, pointer));
    config::override_value(config, pointer, value);
  }
}

}  // namespace equarx::cli
