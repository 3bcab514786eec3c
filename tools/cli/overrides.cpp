#include "tools/cli/overrides.hpp"

#include <fmt/format.h>

#include "experiments/config/set_value.hpp"
#include "experiments/input/errors.hpp"
#include "experiments/input/json.hpp"
#include "experiments/input/json_text.hpp"

namespace equarx::cli {

void apply_override(input::Json& config, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || !text.starts_with('/'))
    throw input::InputError("",
                            fmt::format("--set {}: expected a JSON pointer, '=' and a value, like "
                                        "'/tensor/bytes=8 MiB'",
                                        text));
  config::override_value(config, text.substr(0, equals), text.substr(equals + 1));
}

}  // namespace equarx::cli
