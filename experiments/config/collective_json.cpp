#include "experiments/config/collective_json.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include <fmt/format.h>

#include "experiments/config/algorithm.hpp"
#include "experiments/config/format_json.hpp"
#include "experiments/config/json.hpp"
#include "experiments/config/labels.hpp"
#include "experiments/input/errors.hpp"
#include "experiments/input/json.hpp"
#include "experiments/input/nearest.hpp"
#include "models/os/printable.hpp"

namespace equarx::config {
namespace {

constexpr std::uint32_t kMostParts = 1U << 20;
constexpr input::EnumNames<collectives::Collective, 5> kCollectives({
    {collectives::Collective::all_reduce, "all-reduce"},
    {collectives::Collective::reduce_scatter, "reduce-scatter"},
    {collectives::Collective::all_gather, "all-gather"},
    {collectives::Collective::all_to_all, "all-to-all"},
    {collectives::Collective::broadcast, "broadcast"},
});
constexpr input::EnumNames<CutMode, 2> kCutModes({
    {CutMode::fastest, "fastest"},
    {CutMode::by_size, "by-size"},
});
constexpr std::array kRingStyles = {collectives::RingStyle::full_loop,
                                    collectives::RingStyle::semi_loop};
constexpr input::EnumNames<QuantizedPhases, 3> kQuantizedPhases({
    {QuantizedPhases::reduce_scatter, "reduce-scatter"},
    {QuantizedPhases::all_gather, "all-gather"},
    {QuantizedPhases::both, "both"},
});

std::optional<std::uint32_t> read_parts(input::ObjectReader& reader, std::string_view key) {
  if (!reader.has(key)) return std::nullopt;
  return static_cast<std::uint32_t>(reader.integer(key, 1, kMostParts));
}

/// Whether anything has scales, so that minishards follow from elements_per_scale.
bool has_scales(const CollectiveConfig& config) {
  return config.format.scaled || (config.between && config.between->scaled);
}

std::uint32_t read_elements_per_scale(input::ObjectReader& reader, const CollectiveConfig& config) {
  if (config.minishards || !has_scales(config))
    throw input::InputError(
        reader.place_of("elements_per_scale"),
        "chooses the minishards of quantized collectives where they are not given; "
        "remove it, or \"minishards\"");
  return static_cast<std::uint32_t>(reader.integer("elements_per_scale", 1, kMostParts));
}

CutMode read_cut_mode(input::ObjectReader& reader, const CollectiveConfig& config) {
  if (config.microshards && (config.minishards || !has_scales(config)))
    throw input::InputError(reader.place_of("cuts"),
                            "says how minishards and microshards are chosen where they are not "
                            "given; remove it, or \"microshards\"");
  return reader.choice_or("cuts", kCutModes, CutMode::fastest);
}

void refuse(input::ObjectReader& reader, std::span<const std::string_view> keys,
            std::string_view why) {
  for (const std::string_view key : keys)
    if (reader.has(key)) throw input::InputError(reader.place_of(key), std::string(why));
}

/// Refuses what is an algorithm, but not of this collective.
void refuse_other_collectives(input::ObjectReader& reader, collectives::Collective collective,
                              std::span<const std::string_view> names) {
  const std::string wanted =
      reader.text("algorithm", fmt::format("one of {}", input::list_of(names)));
  const auto known =
      std::ranges::find(collectives::algorithms(), wanted, &collectives::AlgorithmInfo::name);
  if (known == collectives::algorithms().end() || known->does(collective)) return;
  std::vector<std::string_view> does;
  for (const collectives::Collective one : known->collectives)
    does.push_back(collectives::name(one));
  throw input::InputError(
      reader.place_of("algorithm"),
      fmt::format("'{}' does {} only; for {} use one of {}", wanted, input::list_of(does),
                  collectives::name(collective), input::list_of(names)));
}

Algorithm read_algorithm(input::ObjectReader& reader, collectives::Collective collective) {
  std::vector<std::string_view> names;
  std::vector<Algorithm> algorithms = algorithms_of(collective);
  algorithms.push_back(kAutomatic);
  for (const Algorithm algorithm : algorithms) names.push_back(algorithm_name(algorithm));
  refuse_other_collectives(reader, collective, names);
  return algorithms[reader.choice("algorithm", names)];
}

/// Whether what is given under "format" and beside it describes a format with scales.
bool wants_scales(input::ObjectReader& reader, Algorithm algorithm) {
  if (!can_be_plain(algorithm)) return true;
  for (const std::string_view key : {"quantize", "scale", "layout", "block"})
    if (reader.has(key)) return true;
  if (!reader.has("format")) return false;
  const std::string wanted = reader.text("format");
  return std::ranges::any_of(numerics::named_formats(), [&](const numerics::NamedFormat& named) {
    return named.name == wanted && named.format.scaled;
  });
}

std::optional<numerics::ElementFormat> read_cast(input::ObjectReader& reader,
                                                 numerics::ElementFormat dtype) {
  if (!reader.has("cast_to")) return std::nullopt;
  const numerics::ElementFormat to =
      input::choose(reader, "cast_to", numerics::kTensorFormats, dtype);
  if (to == dtype)
    throw input::InputError(
        reader.place_of("cast_to"),
        fmt::format("the tensor is {} already (/tensor/dtype); remove it", numerics::name(dtype)));
  return to;
}

std::string default_label(const CollectiveConfig& config) {
  std::string label = fmt::format("{} {}", algorithm_name(config.algorithm), config.format.name);
  if (config.between) label += fmt::format(", {} between slices", config.between->name);
  if (config.hadamard) label += ", hadamard";
  if (!config.cast_to) return label;
  return fmt::format("{}, cast to {}", label, numerics::name(*config.cast_to));
}

/// Tables print it, to terminals too.
std::string read_label(input::ObjectReader& reader) {
  std::string label = reader.text("label");
  if (os::printable(label) != label)
    throw input::InputError(reader.place_of("label"),
                            fmt::format("'{}' has control characters; remove them", label));
  return label;
}

void read_format(input::ObjectReader& reader, CollectiveConfig& config,
                 collectives::Collective collective, numerics::ElementFormat dtype) {
  constexpr std::array<std::string_view, 4> kScaleKeys = {"quantize", "scale", "layout", "block"};
  if (!can_be_quantized(collective, config.algorithm)) {
    refuse(
        reader, kScaleKeys,
        collectives::sums(collective)
            ? fmt::format("is for quantized algorithms, like \"equarx\"; a plain {} has no scales, "
                          "remove it",
                          algorithm_name(config.algorithm))
            : "is for quantized collectives; this one is plain, remove it");
    config.format = read_plain_format(reader, dtype, collectives::sums(collective));
    return;
  }
  if (!wants_scales(reader, config.algorithm)) {
    config.format = read_plain_format(reader, dtype, collectives::sums(collective));
    return;
  }
  if (reader.has("quantize") && collective != collectives::Collective::all_reduce)
    throw input::InputError(reader.place_of("quantize"),
                            "chooses among the two phases of an AllReduce; remove it");
  config.quantize = reader.choice_or("quantize", kQuantizedPhases, QuantizedPhases::both);
  if (reader.has("quantize") && !has_two_phases(config.algorithm))
    throw input::InputError(
        reader.place_of("quantize"),
        fmt::format("'{}' has one phase only; remove it", algorithm_name(config.algorithm)));
  config.format = read_scaled_format(reader);
}

/// What is sent between slices.
NamedBlockFormat read_between(input::ObjectReader reader, Algorithm algorithm,
                              numerics::ElementFormat dtype) {
  constexpr std::array<std::string_view, 1> kQuantize = {"quantize"};
  refuse(reader, kQuantize, "is said once, beside \"format\", for both levels; remove it");
  NamedBlockFormat format = wants_scales(reader, algorithm)
                                ? read_scaled_format(reader)
                                : read_plain_format(reader, dtype, true);
  reader.finish();
  return format;
}

/// A scale that all ranks share is for codes that are added as they are, at every level.
void check_levels(input::ObjectReader& reader, const CollectiveConfig& config) {
  const bool within = numerics::has_shared_scale(config.format);
  if (!within && !(config.between && numerics::has_shared_scale(*config.between))) return;
  const std::string& name = within ? config.format.name : config.between->name;
  throw input::InputError(
      within ? reader.place_of("format") : reader.place_of("between") + "/format",
      fmt::format("'{}' has one scale for all ranks, and levels are summed in FP32; use a format "
                  "like \"int8\", or an algorithm like \"two-shot\"",
                  name));
}

/// What is sent between slices, if it is something else.
void read_levels(input::ObjectReader& reader, CollectiveConfig& config,
                 numerics::ElementFormat dtype) {
  constexpr std::array<std::string_view, 1> kBetween = {"between"};
  if (config.algorithm == kAutomatic || !collectives::is_of_slices(config.algorithm->layout))
    return refuse(reader, kBetween,
                  "is what is sent between slices, for \"hierarchical\", "
                  "\"hierarchical-two-shot\" and \"qgz\"; remove it");
  if (reader.has("between"))
    config.between =
        read_between(reader.object("between"), config.algorithm, tensor_type(config, dtype));
  check_levels(reader, config);
}

/// Codes that are added two at a time are not for algorithms in which more terms meet.
void check_sums(input::ObjectReader& reader, const CollectiveConfig& config,
                collectives::Collective collective) {
  if (fits_format(config.algorithm, collective, config.format)) return;
  std::vector<std::string_view> fitting;
  for (const Algorithm algorithm : algorithms_of(collective))
    if (fits_format(algorithm, collective, config.format)) fitting.push_back(algorithm->name);
  throw input::InputError(
      reader.place_of("algorithm"),
      fmt::format("'{}' adds what comes from several chips in FP32, or the same at several chips; "
                  "codes of '{}' are added two at a time, with random bits, at one chip; use one "
                  "of {}",
                  algorithm_name(config.algorithm), config.format.name, input::list_of(fitting)));
}

/// A scale that all ranks share is for sums, and casts what they bring.
void check_shared_scale(input::ObjectReader& reader, const CollectiveConfig& config,
                        collectives::Collective collective) {
  if (!numerics::has_shared_scale(config.format)) return;
  if (!collectives::adds(collective))
    throw input::InputError(
        reader.place_of("format"),
        fmt::format(
            "'{}' is for sums: of an all-reduce or a reduce-scatter; {} has others, like \"int8\"",
            config.format.name, collectives::name(collective)));
  if (config.cast_to)
    throw input::InputError(reader.place_of("cast_to"),
                            fmt::format("'{}' casts the tensor itself, by the scale that all ranks "
                                        "share; remove it",
                                        config.format.name));
  check_sums(reader, config, collective);
}

/// A rotation is for sums, and helps where values share a scale.
void check_hadamard(input::ObjectReader& reader, const CollectiveConfig& config,
                    collectives::Collective collective) {
  if (!config.hadamard) return;
  const auto refuse_it = [&](const std::string& why) {
    throw input::InputError(reader.place_of("hadamard"), why);
  };
  if (!collectives::adds(collective))
    refuse_it("is for sums, of an all-reduce or a reduce-scatter; remove it");
  if (config.cast_to)
    refuse_it("rotates in fp32, so nothing is cast to another type; remove \"cast_to\"");
  if (!has_scales(config))
    refuse_it(
        "spreads large values over those that share a scale, and there are no scales of one rank "
        "here; use a quantized format, like \"int4\", or remove it");
}

}  // namespace

CollectiveConfig read_collective(input::ObjectReader reader, collectives::Collective collective,
                                 numerics::ElementFormat dtype) {
  constexpr std::array<std::string_view, 1> kRing = {"ring"};
  CollectiveConfig config;
  config.algorithm = read_algorithm(reader, collective);
  if (!has_ring_style(config.algorithm))
    refuse(reader, kRing, "is for algorithms that go round rings; remove it");
  config.ring = input::choose(reader, "ring", kRingStyles, collectives::RingStyle::full_loop);
  config.cast_to = read_cast(reader, dtype);
  config.hadamard = reader.flag_or("hadamard", false);
  read_format(reader, config, collective, tensor_type(config, dtype));
  read_levels(reader, config, dtype);
  check_shared_scale(reader, config, collective);
  check_hadamard(reader, config, collective);
  config.minishards = read_parts(reader, "minishards");
  if (reader.has("elements_per_scale"))
    config.elements_per_scale = read_elements_per_scale(reader, config);
  config.microshards = read_parts(reader, "microshards");
  if (reader.has("cuts")) config.cuts = read_cut_mode(reader, config);
  config.label = reader.has("label") ? read_label(reader) : default_label(config);
  reader.finish();
  return config;
}

std::string_view name(QuantizedPhases phases) { return kQuantizedPhases[phases]; }

numerics::ElementFormat tensor_type(const CollectiveConfig& collective,
                                    numerics::ElementFormat dtype) {
  if (numerics::has_shared_scale(collective.format)) return collective.format.element;
  if (collective.hadamard) return numerics::ElementFormat::fp32;
  return collective.cast_to.value_or(dtype);
}

bool has_casts(const CollectiveConfig& collective) {
  return collective.cast_to || collective.hadamard || numerics::has_shared_scale(collective.format);
}

numerics::BlockFormat wire_format(const CollectiveConfig& collective, collectives::Phase phase,
                                  numerics::ElementFormat dtype) {
  const bool between = phase == collectives::Phase::reduce_scatter_between ||
                       phase == collectives::Phase::all_gather_between;
  const NamedBlockFormat& format =
      between && collective.between ? *collective.between : collective.format;
  const QuantizedPhases other =
      collectives::gathers(phase) ? QuantizedPhases::reduce_scatter : QuantizedPhases::all_gather;
  if (format.scaled && collective.quantize == other)
    return {.element = tensor_type(collective, dtype)};
  return format;
}

collectives::Collective read_collective_kind(input::ObjectReader& reader) {
  return reader.choice_or("collective", kCollectives, collectives::Collective::all_reduce);
}

collectives::Collective read_collective_name(input::ObjectReader& reader, std::string_view key) {
  return reader.choice(key, kCollectives);
}

std::string_view collective_key(collectives::Collective collective) {
  return kCollectives[collective];
}

std::vector<CollectiveConfig> read_collectives(input::ObjectReader& reader,
                                               collectives::Collective collective,
                                               numerics::ElementFormat dtype) {
  const input::Json& list = reader.array("collectives");
  if (list.empty())
    throw input::InputError("/collectives",
                            "is empty; name at least one, like {\"algorithm\": \"ring\"}");
  std::vector<CollectiveConfig> collectives;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string place = fmt::format("/collectives/{}", i);
    collectives.push_back(read_collective(input::ObjectReader(list[i], place), collective, dtype));
    check_last_label(collectives, "/collectives");
  }
  return collectives;
}

namespace {

/// Whether the name of a format without scales means one with scales here. Left out, it is the tensor's
/// type.
bool means_another(const CollectiveConfig& collective, const NamedBlockFormat& format,
                   collectives::Collective kind) {
  if (format.scaled || !can_be_quantized(kind, collective.algorithm)) return false;
  return std::ranges::any_of(numerics::named_formats(), [&](const numerics::NamedFormat& named) {
    return named.name == format.name && named.format.scaled;
  });
}

}  // namespace

input::Json collective_json(const CollectiveConfig& collective, collectives::Collective kind) {
  input::Json json = {{"label", collective.label},
                      {"algorithm", algorithm_name(collective.algorithm)}};
  if (has_ring_style(collective.algorithm)) json["ring"] = collectives::name(collective.ring);
  const bool two_phases =
      kind == collectives::Collective::all_reduce && has_two_phases(collective.algorithm);
  if (collective.format.scaled && two_phases) json["quantize"] = name(collective.quantize);
  if (collective.hadamard) json["hadamard"] = true;
  if (collective.cast_to) json["cast_to"] = numerics::name(*collective.cast_to);
  json.update(format_json(collective.format));
  if (means_another(collective, collective.format, kind)) json.erase("format");
  if (collective.between) {
    json["between"] = format_json(*collective.between);
    if (means_another(collective, *collective.between, kind)) json["between"].erase("format");
  }
  if (collective.minishards) json["minishards"] = *collective.minishards;
  if (!collective.minishards && has_scales(collective))
    json["elements_per_scale"] = collective.elements_per_scale;
  if (collective.microshards) json["microshards"] = *collective.microshards;
  if (!collective.microshards || (!collective.minishards && has_scales(collective)))
    json["cuts"] = kCutModes[collective.cuts];
  return json;
}

}  // namespace equarx::config
