#include "topologies/markup.hpp"

namespace equarx::topology {

std::string escaped_for_markup(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      case '\'': result += "&#39;"; break;
      default: result += static_cast<unsigned char>(c) < ' ' ? '?' : c;
    }
  }
  return result;
}

}  // namespace equarx::topology
