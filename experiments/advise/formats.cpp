#include "experiments/advise/formats.hpp"

#include "base/input/errors.hpp"
#include "experiments/tune/tune.hpp"

namespace equarx::advise {

std::vector<std::string> scaled_formats(const std::vector<std::string>& requested) {
  std::vector<std::string> names;
  for (const config::NamedBlockFormat& format : tune::tune_formats(requested))
    if (format.scaled) names.push_back(format.name);
  if (names.empty())
    throw input::InputError("--formats",
                            "has no format with scales, so there is nothing to compare; add one, "
                            "like int8");
  return names;
}

}  // namespace equarx::advise
