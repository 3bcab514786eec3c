#include "importers/hlo/shape_text.hpp"

#include <charconv>
#include <cstdint>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "importers/hlo/module.hpp"

namespace equarx::hlo {
namespace {

constexpr int kMaxTupleDepth = 64;

std::int64_t read_length(Scanner& scanner) {
  if (scanner.take("?")) return 1;
  scanner.take("<=");
  const std::string_view digits = scanner.word();
  std::int64_t length = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), length);
  if (digits.empty() || problem != std::errc() || end != digits.data() + digits.size() ||
      length < 0)
    throw scanner.error(fmt::format("'{}' is not the length of a dimension", digits.substr(0, 40)));
  return length;
}

/// Reads a layout such as "{1,0:T(8,128)S(5)}"; only the memory space matters.
MemorySpace read_layout(Scanner& scanner) {
  const std::string_view layout = scanner.bracketed();
  const std::size_t at = layout.find("S(");
  if (at == std::string_view::npos) return MemorySpace::device;
  constexpr std::int64_t kFast = 1;
  constexpr std::int64_t kHost = 5;
  const std::vector<std::int64_t> numbers =
      numbers_in(layout.substr(at, layout.find(')', at) - at));
  const std::int64_t space = numbers.empty() ? 0 : numbers.front();
  if (space == 0) return MemorySpace::device;
  if (space == kFast) return MemorySpace::fast;
  return space == kHost ? MemorySpace::host : MemorySpace::other;
}

Shape read_array(Scanner& scanner) {
  Shape shape;
  shape.type = scanner.word();
  if (shape.type.empty() || !scanner.take("["))
    throw scanner.error("expected a shape, like f32[2,3]");
  while (!scanner.take("]")) {
    shape.lengths.push_back(read_length(scanner));
    if (!scanner.take(",") && scanner.peek() != ']')
      throw scanner.error("expected ',' or ']' after a dimension");
  }
  const std::size_t next = scanner.position();
  if (next < scanner.text().size() && scanner.text()[next] == '{')
    shape.space = read_layout(scanner);
  return shape;
}

Shape read_nested(Scanner& scanner, int depth) {
  if (!scanner.take("(")) return read_array(scanner);
  if (depth == kMaxTupleDepth)
    throw scanner.error(fmt::format("tuples are nested more than {} deep", kMaxTupleDepth));
  Shape shape{.is_tuple = true, .type = {}, .lengths = {}, .parts = {}};
  while (!scanner.take(")")) {
    shape.parts.push_back(read_nested(scanner, depth + 1));
    if (!scanner.take(",") && scanner.peek() != ')')
      throw scanner.error("expected ',' or ')' in a tuple; is the file truncated?");
  }
  return shape;
}

}  // namespace

Shape read_shape(Scanner& scanner) { return read_nested(scanner, 0); }

}  // namespace equarx::hlo
