#include "importers/hlo/mesh_groups.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "importers/hlo/device_order.hpp"
#include "importers/hlo/module.hpp"

namespace equarx::hlo {
namespace {

/// A mesh axis, or a sub-axis preceded by sub-axes of total length `before`.
struct NamedAxis {
  std::string_view name;
  std::int64_t length = 1;
  std::int64_t before = 1;
  bool is_part = false;
};

std::string_view without(std::string_view text, std::string_view characters) {
  const std::size_t begin = text.find_first_not_of(characters);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(characters) - begin + 1);
}

/// Parses "'a'=2,'b'=4", or the used axes "'a','b':(2)2".
std::vector<NamedAxis> named_axes(std::string_view text) {
  std::vector<NamedAxis> axes;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    const std::string_view one = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t end_of_name = one.find_first_of("=:");
    NamedAxis axis{.name = without(one.substr(0, end_of_name), " '")};
    const AxisNumbers numbers =
        end_of_name == std::string_view::npos ? AxisNumbers{} : numbers_in(one.substr(end_of_name));
    axis.is_part = numbers.size() == 2;
    if (axis.is_part) axis.before = numbers.front();
    if (!numbers.empty()) axis.length = numbers.back();
    axes.push_back(axis);
  }
  return axes;
}

/// A mesh whose axes are split so that each is used entirely or not at all.
struct DividedMesh {
  AxisNumbers lengths;
  /// Indices of the used axes, in the order in which they are named.
  std::vector<std::int64_t> used;
};

std::optional<DividedMesh> divided(const std::vector<NamedAxis>& mesh,
                                   const std::vector<NamedAxis>& used) {
  DividedMesh made;
  std::vector<std::pair<std::size_t, std::int64_t>> positions;  // index in `used`, and in the mesh
  for (const NamedAxis& axis : mesh) {
    // Boundaries between sub-axes, as products of lengths.
    AxisNumbers borders = {1, axis.length};
    for (const NamedAxis& part : used)
      if (part.name == axis.name && part.is_part)
        borders.insert(borders.end(), {part.before, part.before * part.length});
    std::ranges::sort(borders);
    borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
    if (borders.front() < 1 || borders.back() != axis.length) return std::nullopt;
    for (std::size_t i = 1; i < borders.size(); ++i) {
      if (borders[i] % borders[i - 1] != 0) return std::nullopt;
      for (std::size_t of = 0; of < used.size(); ++of) {
        const NamedAxis& part = used[of];
        const bool is_within = !part.is_part || (borders[i - 1] >= part.before &&
                                                 borders[i] <= part.before * part.length);
        if (part.name == axis.name && is_within)
          positions.emplace_back(of, static_cast<std::int64_t>(made.lengths.size()));
      }
      made.lengths.push_back(borders[i] / borders[i - 1]);
    }
  }
  std::ranges::sort(positions);
  for (const auto& [of, axis] : positions) made.used.push_back(axis);
  return made;
}

/// Returns the chips in mesh order: "([2,4]<=[4,2]T(1,0))" with or without the first part, or an
/// explicit list.
std::optional<std::vector<std::uint32_t>> chips_of_mesh(std::string_view ids, std::uint64_t size) {
  std::vector<std::uint32_t> chips;
  const std::string_view value = without(ids, "=()[] ");
  const std::size_t arrow = value.find("<=");
  if (arrow != std::string_view::npos) return read_iota(value.substr(arrow), size);
  if (ids.find('[') != std::string_view::npos) return read_iota(value, size);
  for (const std::int64_t number : numbers_in(value)) {
    if (static_cast<std::uint64_t>(number) >= kMaxDevices) return std::nullopt;
    chips.push_back(static_cast<std::uint32_t>(number));
  }
  return chips.size() == size ? std::optional(chips) : std::nullopt;
}

/// Parts of "mesh['a'=2,'b'=4], device_ids=(...) {'b'}"; device_ids may be within the brackets.
struct MeshText {
  std::string_view axes;
  std::string_view ids;  ///< empty if absent
  std::string_view used;
};

std::optional<MeshText> parts_of(std::string_view text) {
  constexpr std::string_view kIds = "device_ids=";
  const std::size_t open = text.find_first_of("[<");
  const std::size_t groups = text.rfind('{');
  if (open == std::string_view::npos || groups == std::string_view::npos || groups < open ||
      !text.ends_with("}"))
    return std::nullopt;
  const std::size_t close = text.find_first_of("]>", open);
  const std::size_t ids = text.find(kIds);
  const std::size_t end = std::min(close, ids);
  if (close > groups) return std::nullopt;
  MeshText parts{.axes = text.substr(open + 1, end - open - 1),
                 .ids = {},
                 .used = text.substr(groups + 1, text.size() - groups - 2)};
  if (ids < groups) parts.ids = text.substr(ids + kIds.size(), groups - ids - kIds.size());
  return parts;
}

}  // namespace

std::optional<DeviceGroups> read_mesh_groups(std::string_view text, std::uint64_t most) {
  const std::optional<MeshText> parts = parts_of(text);
  if (!parts) return std::nullopt;
  const std::vector<NamedAxis> mesh = named_axes(without(parts->axes, " ,"));
  const std::vector<NamedAxis> used = named_axes(parts->used);
  const auto is_small = [](const NamedAxis& axis) {
    constexpr auto kMax = static_cast<std::int64_t>(kMaxDevices);
    return axis.length <= kMax && axis.before <= kMax;
  };
  if (!std::ranges::all_of(mesh, is_small) || !std::ranges::all_of(used, is_small))
    return std::nullopt;
  const bool all_known = std::ranges::all_of(used, [&](const NamedAxis& axis) {
    return std::ranges::find(mesh, axis.name, &NamedAxis::name) != mesh.end();
  });
  const std::optional<DividedMesh> axes = all_known ? divided(mesh, used) : std::nullopt;
  const std::optional<std::uint64_t> size = axes ? product_of(axes->lengths) : std::nullopt;
  if (!size || *size > most) return std::nullopt;
  AxisNumbers order;
  std::uint64_t per_group = 1;
  for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(axes->lengths.size()); ++axis)
    if (std::ranges::find(axes->used, axis) == axes->used.end()) order.push_back(axis);
  for (const std::int64_t axis : axes->used) {
    order.push_back(axis);
    per_group *= static_cast<std::uint64_t>(axes->lengths[static_cast<std::size_t>(axis)]);
  }
  if (!is_order(order, axes->lengths.size())) return std::nullopt;  // an axis is named twice
  std::vector<std::uint32_t> numbers = transposed_iota(axes->lengths, order, *size);
  if (!parts->ids.empty()) {
    const auto chips = chips_of_mesh(parts->ids, *size);
    if (!chips) return std::nullopt;
    for (std::uint32_t& number : numbers) number = (*chips)[number];
  }
  return in_runs(numbers, per_group);
}

}  // namespace equarx::hlo
