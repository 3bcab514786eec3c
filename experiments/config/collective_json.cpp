#include "experiments/config/collective_json.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <stdexcept>

#include <fmt/format.h>

#include "base/input/codecs.hpp"
#include "base/input/errors.hpp"
#include "base/input/fields.hpp"
#include "base/input/json.hpp"
#include "base/input/nearest.hpp"
#include "base/input/pointer.hpp"
#include "base/os/printable.hpp"
#include "experiments/config/algorithm.hpp"
#include "experiments/config/arithmetic_json.hpp"
#include "experiments/config/format_json.hpp"
#include "experiments/config/json.hpp"
#include "experiments/config/labels.hpp"
#include "experiments/config/own_format.hpp"
#include "experiments/config/tensor_json.hpp"

namespace equarx::config {
namespace {

constexpr std::uint32_t kMostParts = 1U << 20;
constexpr std::uint32_t kMostThreadBlocks = 1024;
constexpr input::EnumNames<collectives::Collective, 6> kCollectives({
    {collectives::Collective::all_reduce, "all-reduce"},
    {collectives::Collective::reduce_scatter, "reduce-scatter"},
    {collectives::Collective::all_gather, "all-gather"},
    {collectives::Collective::all_to_all, "all-to-all"},
    {collectives::Collective::broadcast, "broadcast"},
    {collectives::Collective::neighbor_average, "neighbor-average"},
});
/// Those of steps, whose groups are of axes or lists rather than neighbours.
constexpr std::span<const std::string_view> kKindsInSteps =
    std::span(kCollectives.all()).first<5>();
constexpr input::EnumNames<collectives::Casts, 2> kCastPlaces({
    {collectives::Casts::fused, "fused"},
    {collectives::Casts::separate, "separate"},
});
/// Values of "protocol"; "auto" is none of hardware::Protocol.
constexpr std::string_view kAnyProtocol = "auto";
constexpr std::array<std::string_view, 4> kProtocolNames = {kAnyProtocol, "ll", "ll128", "simple"};
constexpr input::EnumNames<CutMode, 2> kCutModes({
    {CutMode::fastest, "fastest"},
    {CutMode::by_size, "by-size"},
});
/// Keys that imply a format with scales.
constexpr std::array<std::string_view, 6> kScaleKeys = {"quantize", "scale", "scale_rounding",
                                                        "layout",   "block", "codec"};
constexpr std::array kRingStyles = {collectives::RingStyle::full_loop,
                                    collectives::RingStyle::semi_loop};
constexpr input::EnumNames<QuantizedPhases, 3> kQuantizedPhases({
    {QuantizedPhases::reduce_scatter, "reduce-scatter"},
    {QuantizedPhases::all_gather, "all-gather"},
    {QuantizedPhases::both, "both"},
});

/// True if any level has scales, so that minishards follow from elements_per_scale.
bool has_scales(const CollectiveConfig& config) {
  return config.format.scaled || (config.between && config.between->scaled);
}

/// Size of a scale group, from which the minishards follow.
struct ElementsPerScale {
  void read(input::ObjectReader& reader, std::string_view key, CollectiveConfig& config) const {
    if (!reader.has(key)) return;
    if (config.minishards || !has_scales(config))
      throw input::InputError(
          reader.pointer_to(key),
          "determines the minishards of quantized collectives if they are not given; "
          "remove it, or \"minishards\"");
    input::Integer{1, kMostParts}.read(reader, key, config.elements_per_scale);
  }
  void write(const CollectiveConfig& config, std::string_view key, input::Json& json) const {
    if (!config.minishards && has_scales(config))
      json[std::string(key)] = config.elements_per_scale;
  }
  input::Json schema() const { return input::Integer{1, kMostParts}.schema(); }
};

/// Choice of parts that are not given.
struct Cuts {
  void read(input::ObjectReader& reader, std::string_view key, CollectiveConfig& config) const {
    if (!reader.has(key)) return;
    if (!is_open(config))
      throw input::InputError(reader.pointer_to(key),
                              "selects how minishards and microshards are chosen if they are not "
                              "given; remove it, or \"microshards\"");
    config.cuts = reader.choice(key, kCutModes);
  }
  void write(const CollectiveConfig& config, std::string_view key, input::Json& json) const {
    if (is_open(config)) json[std::string(key)] = kCutModes[config.cuts];
  }
  input::Json schema() const { return input::enum_schema(kCutModes.all()); }

 private:
  static bool is_open(const CollectiveConfig& config) {
    return !config.microshards || (!config.minishards && has_scales(config));
  }
};

/// Keys of the tiling.
const input::Table<CollectiveConfig>& cut_table() {
  static const input::Table<CollectiveConfig> table{
      {"minishards", &CollectiveConfig::minishards, input::Integer{1, kMostParts},
       "parts of a shard's segment with their own scales. Default: as many as give about "
       "`elements_per_scale` elements per strided group, or any number from there to 4; 1 without "
       "scales",
       input::otherwise("chosen")},
      {"elements_per_scale", ElementsPerScale{},
       "alternative to `minishards`, if quantized; scale groups have at most the nearest possible "
       "size",
       input::by_default("128")},
      {"microshards", &CollectiveConfig::microshards, input::Integer{1, kMostParts},
       "messages per minishard. Default: 1 to 8; 1 for `one-shot`, `two-shot`, `direct`, "
       "`hierarchical-two-shot` and `qgz`, whose rounds overlap already",
       input::otherwise("chosen")},
      {"thread_blocks", &CollectiveConfig::thread_blocks, input::Integer{1, kMostThreadBlocks},
       "GPU thread blocks (SMs of a kernel) that move the data: the links of a chip together are "
       "no "
       "faster than these at its `thread_block_rate`",
       input::otherwise("no limit")},
      {"cuts", Cuts{},
       "choice of unspecified `minishards` and `microshards`: the fastest of several, within "
       "limits ([model.md](model.md), C8). `\"by-size\"`: fewest minishards for "
       "`elements_per_scale`, and 2 KiB payload per microshard (at most 8, or 4 with several "
       "minishards)",
       input::by_default(R"("fastest")")},
  };
  return table;
}

/// Rejects a known algorithm that does not implement this collective.
void check_implements(input::ObjectReader& reader, collectives::Collective collective,
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
      reader.pointer_to("algorithm"),
      fmt::format("'{}' implements {} only; for {} use one of {}", wanted, input::list_of(does),
                  collectives::name(collective), input::list_of(names)));
}

Algorithm read_algorithm(input::ObjectReader& reader, collectives::Collective collective) {
  std::vector<std::string_view> names;
  std::vector<Algorithm> algorithms = algorithms_of(collective);
  algorithms.push_back(kAutomatic);
  for (const Algorithm algorithm : algorithms) names.push_back(algorithm_name(algorithm));
  check_implements(reader, collective, names);
  return algorithms[reader.choice("algorithm", names)];
}

/// True if the keys describe a format with scales.
bool has_scale_keys(input::ObjectReader& reader, Algorithm algorithm) {
  if (!can_be_plain(algorithm)) return true;
  for (const std::string_view key : kScaleKeys)
    if (reader.has(key)) return true;
  if (!reader.has("format")) return false;
  const std::string wanted = reader.text("format");
  return wanted == kOwnFormat ||
         std::ranges::any_of(numerics::named_formats(), [&](const numerics::NamedFormat& named) {
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
        reader.pointer_to("cast_to"),
        fmt::format("the tensor is {} already (/tensor/dtype); remove it", numerics::name(dtype)));
  return to;
}

std::string_view protocol_name(const CollectiveConfig& config) {
  return config.protocol ? hardware::name(*config.protocol) : kAnyProtocol;
}

/// Without the key, no protocol of NCCL.
std::optional<hardware::Protocol> read_protocol(input::ObjectReader& reader) {
  if (!reader.has("protocol")) return hardware::Protocol::none;
  const std::size_t index = reader.choice("protocol", kProtocolNames);
  if (index == 0) return std::nullopt;
  return static_cast<hardware::Protocol>(index);
}

std::string default_label(const CollectiveConfig& config) {
  std::string label =
      fmt::format("{} {}", algorithm_name(config.algorithm), format_label(config.format));
  if (config.protocol != hardware::Protocol::none)
    label += fmt::format(", protocol {}", protocol_name(config));
  if (config.between) label += fmt::format(", {} between slices", format_label(*config.between));
  if (config.hadamard) label += ", hadamard";
  for (const std::string& word : arithmetic_words(config.arithmetic)) label += ", " + word;
  if (!config.cast_to) return label;
  return fmt::format("{}, cast to {}", label, numerics::name(*config.cast_to));
}

/// Labels are printed in tables, also to terminals.
std::string read_label(input::ObjectReader& reader) {
  std::string label = reader.text("label");
  if (os::printable(label) != label)
    throw input::InputError(reader.pointer_to("label"),
                            fmt::format("'{}' has control characters; remove them", label));
  return label;
}

void read_format(input::ObjectReader& reader, CollectiveConfig& config,
                 collectives::Collective collective, numerics::ElementFormat dtype) {
  if (!can_be_quantized(config.algorithm)) {
    const std::string reason =
        fmt::format("is for quantized algorithms, like \"equarx\"; {} has no scales, remove it",
                    algorithm_name(config.algorithm));
    for (const std::string_view key : kScaleKeys) reader.reject(key, reason);
    config.format = read_plain_format(reader, dtype, true);
    return;
  }
  if (!has_scale_keys(reader, config.algorithm)) {
    config.format = read_plain_format(reader, dtype, true);
    return;
  }
  if (collective != collectives::Collective::all_reduce)
    reader.reject("quantize", "selects phases of an AllReduce; remove it");
  config.quantize = reader.choice_or("quantize", kQuantizedPhases, QuantizedPhases::both);
  if (!has_two_phases(config.algorithm))
    reader.reject("quantize", fmt::format("'{}' has one phase only; remove it",
                                          algorithm_name(config.algorithm)));
  config.format = read_scaled_format(reader);
}

/// Reads the format between slices.
NamedBlockFormat read_between(input::ObjectReader reader, Algorithm algorithm,
                              numerics::ElementFormat dtype) {
  reader.reject("quantize", "is given once, next to \"format\", for both levels; remove it");
  NamedBlockFormat format = has_scale_keys(reader, algorithm)
                                ? read_scaled_format(reader)
                                : read_plain_format(reader, dtype, true);
  reader.finish();
  return format;
}

/// Shared scales require that codes are summed directly at every level.
void check_levels(input::ObjectReader& reader, const CollectiveConfig& config) {
  const bool within = numerics::has_shared_scale(config.format);
  if (!within && !(config.between && numerics::has_shared_scale(*config.between))) return;
  const std::string& name = within ? config.format.name : config.between->name;
  throw input::InputError(
      within ? reader.pointer_to("format") : input::pointer(reader.pointer_to("between"), "format"),
      fmt::format("'{}' has one scale for all ranks, and levels are summed in FP32; use a format "
                  "like \"int8\", or an algorithm like \"two-shot\"",
                  name));
}

/// Reads the format between slices, if it differs.
void read_levels(input::ObjectReader& reader, CollectiveConfig& config,
                 numerics::ElementFormat dtype) {
  if (config.algorithm == kAutomatic || !collectives::is_of_slices(config.algorithm->layout))
    return reader.reject("between",
                         "is the format between slices, for \"hierarchical\", "
                         "\"hierarchical-two-shot\" and \"qgz\"; remove it");
  if (reader.has("between"))
    config.between =
        read_between(reader.object("between"), config.algorithm, tensor_type(config, dtype));
  check_levels(reader, config);
}

/// Codes that are summed pairwise do not support algorithms that add more terms at once.
void check_sums(input::ObjectReader& reader, const CollectiveConfig& config,
                collectives::Collective collective) {
  if (fits_format(config.algorithm, config.format)) return;
  std::vector<std::string_view> fitting;
  for (const Algorithm algorithm : algorithms_of(collective))
    if (fits_format(algorithm, config.format)) fitting.push_back(algorithm->name);
  throw input::InputError(
      reader.pointer_to("algorithm"),
      fmt::format(
          "'{}' sums values of several chips at once in FP32, or the same values on several "
          "chips; codes of '{}' are summed pairwise, with random bits, on one chip; use one "
          "of {}",
          algorithm_name(config.algorithm), config.format.name, input::list_of(fitting)));
}

/// Shared scales are for sums, and imply the cast.
void check_shared_scale(input::ObjectReader& reader, const CollectiveConfig& config,
                        collectives::Collective collective) {
  if (!numerics::has_shared_scale(config.format)) return;
  if (!collectives::adds(collective))
    throw input::InputError(
        reader.pointer_to("format"),
        fmt::format(
            "'{}' is for sums (all-reduce, reduce-scatter); use another for {}, like \"int8\"",
            config.format.name, collectives::name(collective)));
  if (config.cast_to)
    throw input::InputError(reader.pointer_to("cast_to"),
                            fmt::format("'{}' already casts the tensor, with the scale shared by "
                                        "all ranks; remove it",
                                        config.format.name));
  if (config.algorithm != kAutomatic && config.algorithm->in_switch)
    throw input::InputError(
        reader.pointer_to("format"),
        fmt::format("'{}' has one scale for all ranks, which a switch does not know; use a format "
                    "like \"bf16\", or an algorithm like \"two-shot\"",
                    config.format.name));
  check_sums(reader, config, collective);
}

/// Rotation is for sums, and is useful only if values share a scale.
void check_hadamard(input::ObjectReader& reader, const CollectiveConfig& config,
                    collectives::Collective collective) {
  if (!config.hadamard) return;
  const auto reject = [&](const std::string& why) {
    throw input::InputError(reader.pointer_to("hadamard"), why);
  };
  if (!collectives::adds(collective)) reject("is for sums (all-reduce, reduce-scatter); remove it");
  if (config.cast_to)
    reject("rotates in fp32, so nothing is cast to another type; remove \"cast_to\"");
  if (!has_scales(config))
    reject(
        "spreads outliers over the values that share a scale, and there are no per-rank scales "
        "here; use a quantized format, like \"int4\", or remove it");
}

/// Where the tensor is cast. Rotations mix values, so that no element-wise operation contains them.
void read_casts(input::ObjectReader& reader, CollectiveConfig& config) {
  if (!has_casts(config)) return reader.reject("casts", "is for collectives that cast; remove it");
  using collectives::Casts;
  config.casts =
      reader.choice_or("casts", kCastPlaces, config.hadamard ? Casts::separate : Casts::fused);
  if (config.hadamard && config.casts == Casts::fused)
    throw input::InputError(
        reader.pointer_to("casts"),
        "rotations are operations of their own; use \"separate\", or remove \"hadamard\"");
}

}  // namespace

CollectiveConfig read_collective(input::ObjectReader reader, collectives::Collective collective,
                                 numerics::ElementFormat dtype) {
  CollectiveConfig config;
  config.algorithm = read_algorithm(reader, collective);
  if (!has_ring_style(config.algorithm)) reader.reject("ring", "is for ring algorithms; remove it");
  config.ring = input::choose(reader, "ring", kRingStyles, collectives::RingStyle::full_loop);
  config.protocol = read_protocol(reader);
  config.cast_to = read_cast(reader, dtype);
  config.hadamard = reader.flag_or("hadamard", false);
  read_format(reader, config, collective, tensor_type(config, dtype));
  read_levels(reader, config, dtype);
  check_shared_scale(reader, config, collective);
  check_hadamard(reader, config, collective);
  read_casts(reader, config);
  read_arithmetic(reader, config, collective);
  cut_table().read(reader, config);
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
  const bool is_plain = !format.scaled || collective.quantize == other;
  if (is_plain && collective.arithmetic.round == RoundSums::once &&
      collectives::sends_partial_sums(*collective.algorithm, phase))
    return {.element = numerics::ElementFormat::fp32};
  if (format.scaled && collective.quantize == other)
    return {.element = tensor_type(collective, dtype)};
  return format;
}

collectives::Collective read_collective_kind(input::ObjectReader& reader) {
  return reader.choice_or("collective", kCollectives, collectives::Collective::all_reduce);
}

collectives::Collective read_collective_name(input::ObjectReader& reader, std::string_view key) {
  return static_cast<collectives::Collective>(reader.choice(key, kKindsInSteps));
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
    collectives.push_back(read_collective(
        input::ObjectReader(list[i], reader.pointer_to("collectives", i)), collective, dtype));
    check_last_label(collectives, "/collectives");
  }
  return collectives;
}

namespace {

/// True if a scaled format has the name of this unscaled one. The key is then omitted: it defaults
/// to the tensor's type.
bool is_ambiguous_name(const CollectiveConfig& collective, const NamedBlockFormat& format) {
  if (format.scaled || !can_be_quantized(collective.algorithm)) return false;
  return std::ranges::any_of(numerics::named_formats(), [&](const numerics::NamedFormat& named) {
    return named.name == format.name && named.format.scaled;
  });
}

}  // namespace

input::Json collective_json(const CollectiveConfig& collective, collectives::Collective kind) {
  input::Json json = {{"label", collective.label},
                      {"algorithm", algorithm_name(collective.algorithm)}};
  if (has_ring_style(collective.algorithm)) json["ring"] = collectives::name(collective.ring);
  if (collective.protocol != hardware::Protocol::none) json["protocol"] = protocol_name(collective);
  const bool two_phases =
      kind == collectives::Collective::all_reduce && has_two_phases(collective.algorithm);
  if (collective.format.scaled && two_phases) json["quantize"] = name(collective.quantize);
  if (collective.hadamard) json["hadamard"] = true;
  if (collective.cast_to) json["cast_to"] = numerics::name(*collective.cast_to);
  if (has_casts(collective)) json["casts"] = kCastPlaces[collective.casts];
  json.update(format_json(collective.format));
  if (is_ambiguous_name(collective, collective.format)) json.erase("format");
  if (collective.between) {
    json["between"] = format_json(*collective.between);
    if (is_ambiguous_name(collective, *collective.between)) json["between"].erase("format");
  }
  if (const input::Json arithmetic = arithmetic_json(collective.arithmetic); !arithmetic.is_null())
    json["arithmetic"] = arithmetic;
  cut_table().write(collective, json);
  return json;
}

namespace {

/// All algorithms, of any collective.
input::Json algorithm_name_schema() {
  std::vector<std::string_view> names;
  for (const collectives::AlgorithmInfo& info : collectives::algorithms())
    names.push_back(info.name);
  names.push_back(algorithm_name(kAutomatic));
  return input::enum_schema(names);
}

/// The format's keys again, for the other level.
input::Json format_between_schema() {
  input::Json schema = format_schema();
  schema["properties"].erase("mu");
  for (input::Json& key : schema["properties"]) {
    key.erase("default");
    input::describe(key, "as the keys above", input::otherwise("as within slices"), {});
  }
  return schema;
}

input::Json protocol_schema() { return input::enum_schema(kProtocolNames); }

input::Json algorithm_keys_schema() {
  using input::Elsewhere;
  static const input::Table<input::ReadElsewhere> table{
      {{"label", Elsewhere{input::Text{}},
        "name in results; a warning notes a label with the name of another format than runs",
        input::otherwise("generated")},
       {"algorithm", Elsewhere{algorithm_name_schema},
        R"(`"ring"`, `"equarx"`, `"torus"`, `"halving-doubling"`, `"recursive-doubling"`, )"
        R"(`"one-shot"`, `"two-shot"`, `"nvls"`, `"direct"`, `"hierarchical"`, `"hierarchical-two-shot"`, )"
        R"(`"qgz"`, `"quickreduce"`, `"binomial-tree"`, `"server"`, `"neighbors"` or `"auto"`; support depends on )"
        "collective "
        "and topology ([algorithms.md](algorithms.md))",
        input::kRequired},
       {"ring", Elsewhere{input::Named{kRingStyles}},
        "`ring`, `equarx`, `torus`, `hierarchical`, `auto`: each direction carries half of every "
        R"(shard around the ring. `"semi-loop"`: directions carry whole shards and meet)",
        input::by_default(R"("full-loop")")},
       {"protocol", Elsewhere{protocol_schema},
        R"(NCCL's `"ll"`, `"ll128"`, `"simple"`, or `"auto"`, the fastest )"
        "([algorithms.md](algorithms.md#protocols))"},
       {"cast_to", Elsewhere{tensor_type_schema},
        "tensor type, cast to before and back after the collective "
        "([numerics.md](numerics.md#types-of-tensors))"},
       {"casts", Elsewhere{input::OneOf{kCastPlaces}},
        "`cast_to` and [shared scales](numerics.md#shared-scales): part of the operations that "
        "write the tensor and read the result, or `\"separate\"` ones through HBM",
        input::otherwise(R"(`"fused"`; with `hadamard` `"separate"`)")},
       {"hadamard", Elsewhere{input::Flag{}},
        "quantized AllReduce, ReduceScatter: FP32 rotation before and inverse after the "
        "collective, in core time, to spread outliers ([numerics.md](numerics.md#rotation))",
        input::by_default("false")},
       {"arithmetic", Elsewhere{arithmetic_schema},
        "how sums are formed: keys, or the name of a [preset](numerics.md#presets)",
        input::otherwise("FP32 sums, rounded when they are sent")},
       {"quantize", Elsewhere{input::OneOf{kQuantizedPhases}},
        "quantized two-phase AllReduce (all but `one-shot` and `recursive-doubling`): or only "
        R"(`"reduce-scatter"` or `"all-gather"`, the other phase in the tensor's type)",
        input::by_default(R"("both")")}},
      {.definition = "collective"}};
  return table.schema();
}

input::Json levels_schema() {
  static const input::Table<input::ReadElsewhere> table{
      {"between", input::Elsewhere{format_between_schema},
       "`hierarchical`, `hierarchical-two-shot`, `qgz`: format between slices",
       input::otherwise("as within slices")},
  };
  return table.schema();
}

}  // namespace

input::Json collective_schema() {
  return input::joined(
      {algorithm_keys_schema(), format_schema(), levels_schema(), cut_table().schema()});
}

input::Json collective_kind_schema() { return input::enum_schema(kCollectives.all()); }

input::Json collective_name_schema() { return input::enum_schema(kKindsInSteps); }

}  // namespace equarx::config
