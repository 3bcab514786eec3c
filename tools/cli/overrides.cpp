#include "tools/cli/overrides.hpp"

#include <fmt/format.h>

#include "experiments/config_place.hpp"
#include "experiments/input_error.hpp"
#include "experiments/json_text.hpp"

namespace equarx::cli {

void apply_override(experiments::Json& config, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || !text.starts_with('/'))
    throw experiments::InputError(
        "", fmt::format("--set {}: expected a JSON pointer, '=' and a value, like "
                        "/tensor/bytes='\"8 MiB\"'",
                        text));
  experiments::override_value(config, text.substr(0, equals), text.substr(equals + 1));
}

}  // namespace equarx::cli
