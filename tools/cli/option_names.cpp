#include "tools/cli/option_names.hpp"

#include <algorithm>

namespace equarx::cli {

std::string option_message(const std::string& message, const std::string& object) {
  const std::size_t end = message.find(": ");
  if (end == std::string::npos || !message.starts_with(object)) return message;
  if (end == object.size()) return object.empty() ? message : message.substr(1);
  if (message[object.size()] != '/') return message;
  const std::size_t begin = object.size() + 1;
  std::string option = message.substr(begin, std::min(message.find('/', begin), end) - begin);
  std::ranges::replace(option, '_', '-');
  return "--" + option + message.substr(end);
}

}  // namespace equarx::cli
