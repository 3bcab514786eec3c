#include "models/collectives/partition.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "models/numerics/block_format.hpp"

namespace equarx::collectives {
namespace {

std::uint64_t granule(std::uint64_t elements, std::uint32_t parts) {
  return elements / parts >= numerics::kRegisterElements ? numerics::kRegisterElements : 1;
}

std::uint64_t divide_up(std::uint64_t value, std::uint64_t divisor) {
  return value / divisor + (value % divisor != 0 ? 1 : 0);
}

}  // namespace

Range split(Range range, std::uint32_t parts, std::uint32_t index) {
  const std::uint64_t step = granule(range.size(), parts);
  const std::uint64_t steps = divide_up(range.size(), step);
  const auto cut = [&](std::uint64_t part) {
    // steps / parts * part + steps % parts * part / parts never overflows, steps * part could.
    const std::uint64_t at = steps / parts * part + steps % parts * part / parts;
    return range.begin + std::min(at * step, range.size());
  };
  return {cut(index), cut(index + std::uint64_t{1})};
}

std::uint64_t smallest_part(Range range, std::uint32_t parts) {
  const std::uint64_t step = granule(range.size(), parts);
  const std::uint64_t steps = divide_up(range.size(), step);
  const std::uint64_t last = split(range, parts, parts - 1).size();
  return std::min(steps / parts * step, last);
}

Partition::Partition(std::uint64_t elements, std::uint32_t shards, std::uint32_t segments,
                     std::uint32_t minishards, std::uint32_t microshards)
    : elements_(elements),
      shards_(shards),
      segments_(segments),
      minishards_(minishards),
      microshards_(microshards) {
  if (elements == 0 || shards == 0 || segments == 0 || minishards == 0 || microshards == 0)
    throw std::invalid_argument("a tensor and the number of its parts must be at least 1");
  segment_elements_ = divide_up(elements, std::uint64_t{shards} * segments);
  const std::uint64_t least = smallest_part({0, segment_elements_}, minishards);
  if (least < microshards)
    throw std::invalid_argument(fmt::format(
        "{} minishards x {} microshards are more than the {} elements that each of {} ranks has in "
        "one direction; use fewer, or leave them out",
        minishards, microshards, segment_elements_, shards));
}

std::uint64_t Partition::segment_begin(std::uint32_t shard, std::uint32_t segment) const {
  return (std::uint64_t{shard} * segments_ + segment) * segment_elements_;
}

Range Partition::minishard(std::uint32_t minishard) const {
  return split({0, segment_elements_}, minishards_, minishard);
}

Range Partition::microshard(std::uint32_t minishard, std::uint32_t microshard) const {
  return split({0, this->minishard(minishard).size()}, microshards_, microshard);
}

}  // namespace equarx::collectives
