#include "importers/hlo/device_order.hpp"

#include <algorithm>
#include <numeric>

namespace equarx::hlo {

std::optional<std::uint64_t> product_of(const AxisNumbers& lengths) {
  std::uint64_t product = 1;
  for (const std::int64_t length : lengths) {
    if (length < 1 || static_cast<std::uint64_t>(length) > kMaxDevices / product)
      return std::nullopt;
    product *= static_cast<std::uint64_t>(length);
  }
  return product;
}

bool is_order(const AxisNumbers& order, std::size_t axes) {
  AxisNumbers sorted = order;
  std::ranges::sort(sorted);
  AxisNumbers expected(axes);
  std::iota(expected.begin(), expected.end(), std::int64_t{0});
  return sorted == expected;
}

std::vector<std::uint32_t> transposed_iota(const AxisNumbers& lengths, const AxisNumbers& order,
                                           std::uint64_t size) {
  std::vector<std::uint64_t> strides(lengths.size(), 1);
  for (std::size_t axis = lengths.size(); axis-- > 1;)
    strides[axis - 1] = strides[axis] * static_cast<std::uint64_t>(lengths[axis]);
  std::vector<std::uint32_t> numbers(size);
  for (std::uint64_t position = 0; position < size; ++position) {
    std::uint64_t rest = position;
    std::uint64_t number = 0;
    for (std::size_t i = order.size(); i-- > 0;) {
      const auto axis = static_cast<std::size_t>(order[i]);
      const auto length = static_cast<std::uint64_t>(lengths[axis]);
      number += rest % length * strides[axis];
      rest /= length;
    }
    numbers[position] = static_cast<std::uint32_t>(number);
  }
  return numbers;
}

DeviceGroups in_runs(const std::vector<std::uint32_t>& numbers, std::uint64_t per_group) {
  DeviceGroups groups;
  for (std::uint64_t begin = 0; begin < numbers.size(); begin += per_group)
    groups.emplace_back(numbers.begin() + static_cast<std::ptrdiff_t>(begin),
                        numbers.begin() + static_cast<std::ptrdiff_t>(begin + per_group));
  return groups;
}

std::optional<std::vector<std::uint32_t>> read_iota(std::string_view text, std::uint64_t size) {
  const std::size_t transpose = text.find('T');
  const AxisNumbers lengths = numbers_in(text.substr(0, transpose));
  AxisNumbers order(lengths.size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  if (transpose != std::string_view::npos) order = numbers_in(text.substr(transpose));
  if (product_of(lengths) != size || !is_order(order, lengths.size())) return std::nullopt;
  return transposed_iota(lengths, order, size);
}

}  // namespace equarx::hlo
