#include "tools/cli/overrides.hpp"

#include <fmt/format.h>

#include "experiments/config/set_value.hpp"
#include "experiments/input/errors.hpp"
#include "experiments/input/json.hpp"
#include "experiments/input/json_text.hpp"

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

void apply_override(input::Json& config, const std::string& text) {
  const std::string pointer = pointer_of_override(text);
  config::override_value(config, pointer, text.substr(pointer.size() + 1));
}

}  // namespace equarx::cli
