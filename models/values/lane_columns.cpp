#include "models/values/lane_columns.hpp"

#include <algorithm>
#include <climits>

#include "models/values/lanes.hpp"

namespace equarx::values {
namespace {

using numerics::BlockFormat;
using numerics::kRegisterElements;

/// Bytes of the values of all ranks that a part may take.
constexpr std::uint64_t kMostBytes = std::uint64_t{32} << 20;
/// Columns of a part: inputs are generated in blocks of as many.
constexpr std::uint64_t kUsualColumns = 256;

bool is_strided(const BlockFormat& format) {
  return numerics::sends_scales(format) && format.layout == numerics::ScaleLayout::strided &&
         !format.tensor_scale;
}

bool suits_columns(const BlockFormat& format) {
  // Random bits are drawn for consecutive elements.
  if (numerics::rounds_randomly(format)) return false;
  if (format.rule != numerics::ScaleRule::amax) return false;
  return is_strided(format) ||
         (!format.scaled && numerics::element_bits(format.element) % CHAR_BIT == 0);
}

}  // namespace

bool divides_into_columns(const collectives::Program& program) {
  if (!collectives::adds(program.collective) || program.graph || program.counts || program.rotated)
    return false;
  return std::ranges::any_of(program.formats, is_strided) &&
         std::ranges::all_of(program.formats, suits_columns);
}

std::uint64_t columns_at_once(const collectives::Program& program, const Lane& lane) {
  const std::uint64_t elements = lane.range.size();
  const std::uint64_t part = part_elements(program.ranks());
  if (elements <= part) return kRegisterElements;
  const std::uint64_t rows = (elements + kRegisterElements - 1) / kRegisterElements;
  std::uint64_t columns = kRegisterElements;
  while (columns > kUsualColumns && rows * columns > part) columns /= 2;
  const std::uint64_t of_column = rows * program.ranks() * sizeof(float);
  while (columns > numerics::kFewestColumns && columns * of_column > kMostBytes) columns /= 2;
  return columns;
}

}  // namespace equarx::values
