#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>

#include "experiments/config_json.hpp"
#include "experiments/config_parts.hpp"
#include "experiments/format_json.hpp"
#include "experiments/input_error.hpp"

namespace equarx::experiments {
namespace {

constexpr std::uint32_t kMostParts = 1U << 20;
constexpr std::array<std::string_view, 2> kAlgorithms = {"ring", "equarx"};
constexpr std::array<std::string_view, 2> kRingStyles = {"full-loop", "semi-loop"};
constexpr std::array<std::string_view, 3> kQuantizedPhases = {"reduce-scatter", "all-gather",
                                                              "both"};

std::optional<std::uint32_t> read_parts(ObjectReader& reader, std::string_view key) {
  if (!reader.has(key)) return std::nullopt;
  return static_cast<std::uint32_t>(reader.integer(key, 1, kMostParts));
}

std::uint32_t read_elements_per_scale(ObjectReader& reader, const CollectiveConfig& config) {
  if (config.minishards || config.algorithm != Algorithm::equarx)
    throw InputError(reader.place_of("elements_per_scale"),
                     "chooses the minishards of \"equarx\" where they are not given; remove it, or "
                     "\"minishards\"");
  return static_cast<std::uint32_t>(reader.integer("elements_per_scale", 1, kMostParts));
}

void refuse_scales(ObjectReader& reader) {
  for (const std::string_view key : {"quantize", "scale", "layout", "block"})
    if (reader.has(key))
      throw InputError(reader.place_of(key),
                       "is for \"algorithm\": \"equarx\"; a plain ring has no scales, remove it");
}

CollectiveConfig read_collective(ObjectReader reader, numerics::ElementFormat dtype) {
  CollectiveConfig config;
  config.algorithm = static_cast<Algorithm>(reader.choice("algorithm", kAlgorithms));
  config.ring = reader.choice_or("ring", kRingStyles, collectives::RingStyle::full_loop);
  if (config.algorithm == Algorithm::equarx) {
    config.quantize = reader.choice_or("quantize", kQuantizedPhases, QuantizedPhases::both);
    config.format = read_scaled_format(reader);
  } else {
    refuse_scales(reader);
    config.format = read_plain_format(reader, dtype);
  }
  config.minishards = read_parts(reader, "minishards");
  if (reader.has("elements_per_scale"))
    config.elements_per_scale = read_elements_per_scale(reader, config);
  config.microshards = read_parts(reader, "microshards");
  config.label = reader.has("label")
                     ? reader.text("label")
                     : fmt::format("{} {}", name(config.algorithm), config.format.name);
  reader.finish();
  return config;
}

}  // namespace

std::string_view name(Algorithm algorithm) {
  return kAlgorithms[static_cast<std::size_t>(algorithm)];
}

std::string_view name(QuantizedPhases phases) {
  return kQuantizedPhases[static_cast<std::size_t>(phases)];
}

std::vector<CollectiveConfig> read_collectives(ObjectReader& reader,
                                               numerics::ElementFormat dtype) {
  const Json& list = reader.array("collectives");
  if (list.empty())
    throw InputError("/collectives", "is empty; name at least one, like {\"algorithm\": \"ring\"}");
  std::vector<CollectiveConfig> collectives;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string place = fmt::format("/collectives/{}", i);
    collectives.push_back(read_collective(ObjectReader(list[i], place), dtype));
    for (std::size_t other = 0; other < i; ++other)
      if (collectives[other].label == collectives[i].label)
        throw InputError(place + "/label", fmt::format("'{}' is also the label of /collectives/{}; "
                                                       "give each its own",
                                                       collectives[i].label, other));
  }
  return collectives;
}

Json collective_json(const CollectiveConfig& collective) {
  Json json = {{"label", collective.label},
               {"algorithm", name(collective.algorithm)},
               {"ring", collectives::name(collective.ring)}};
  if (collective.algorithm == Algorithm::equarx) json["quantize"] = name(collective.quantize);
  json.update(format_json(collective.format));
  if (collective.minishards) json["minishards"] = *collective.minishards;
  if (collective.microshards) json["microshards"] = *collective.microshards;
  return json;
}

}  // namespace equarx::experiments
