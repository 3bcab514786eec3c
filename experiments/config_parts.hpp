// The parts of an experiment's configuration, each read and written in a file of its own.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/config.hpp"
#include "experiments/object_reader.hpp"

namespace equarx::experiments {

// Keys of which one is given.
inline constexpr std::array<std::string_view, 6> kTopologyKinds = {
    "slice", "mesh", "torus", "ring", "fully-connected", "file"};
inline constexpr std::array<std::string_view, 2> kTensorSizes = {"shape", "bytes"};

/// More elements than any machine holds, and few enough to be counted in bits.
inline constexpr std::uint64_t kMostElements = std::uint64_t{1} << 48;

/// A choice among values that have a name().
template <typename Enum, std::size_t N>
Enum choose(ObjectReader& reader, std::string_view key, const std::array<Enum, N>& values,
            Enum fallback) {
  if (!reader.has(key)) return fallback;
  std::array<std::string_view, N> names;
  std::ranges::transform(values, names.begin(), [](Enum value) { return numerics::name(value); });
  return values[reader.choice(key, names)];
}

/// The one key of `alternatives` that is there; empty if none is. @throws InputError if there are two.
std::string_view exactly_one(ObjectReader& reader, std::span<const std::string_view> alternatives,
                             const std::string& place);

TopologyConfig read_topology(ObjectReader reader, const hardware::Chip& chip);
Json topology_json(const TopologyConfig& topology);

/// Opens the tensor's files, if it has some.
TensorConfig read_tensor(ObjectReader reader, std::uint32_t ranks);
Json tensor_json(const TensorConfig& tensor);
/// What a tensor's values are: their distribution, or "files".
std::string_view values_name(const TensorConfig& tensor);

/// "collective"; AllReduce by default.
collectives::Collective read_collective_kind(ObjectReader& reader);
std::string_view collective_key(collectives::Collective collective);

/// The algorithms to compare; `dtype` is that of the tensor.
std::vector<CollectiveConfig> read_collectives(ObjectReader& reader,
                                               collectives::Collective collective,
                                               numerics::ElementFormat dtype);
Json collective_json(const CollectiveConfig& collective, collectives::Collective kind);

/// Links and chips of a topology that are not as the others.
FaultsConfig read_faults(ObjectReader reader, const TopologyConfig& topology,
                         const hardware::Chip& chip);
Json faults_json(const FaultsConfig& faults);

}  // namespace equarx::experiments
