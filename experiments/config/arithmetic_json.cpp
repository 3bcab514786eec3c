#include "experiments/config/arithmetic_json.hpp"

#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

#include "base/input/codecs.hpp"
#include "base/input/errors.hpp"
#include "base/input/fields.hpp"
#include "base/input/json.hpp"
#include "base/input/nearest.hpp"
#include "base/input/pointer.hpp"

namespace equarx::config {
namespace {

using collectives::OwnerKeeps;
using collectives::Residual;
using collectives::Subnormals;
using numerics::ElementFormat;

constexpr std::array kAccumulators = {ElementFormat::fp32, ElementFormat::bf16,
                                      ElementFormat::fp16};
constexpr input::EnumNames<RoundSums, 3> kSumRoundings({
    {RoundSums::hop, "hop"},
    {RoundSums::rank, "rank"},
    {RoundSums::once, "once"},
});
constexpr std::array kOrders = {collectives::SumOrder::arrival, collectives::SumOrder::ranks,
                                collectives::SumOrder::owner};
constexpr std::array kOwners = {OwnerKeeps::sent, OwnerKeeps::summed};
constexpr std::array kSubnormals = {Subnormals::keep, Subnormals::flush};
constexpr std::array kOverflows = {collectives::Overflow::by_type, collectives::Overflow::saturate,
                                   collectives::Overflow::infinity};
constexpr std::array kResiduals = {Residual::none, Residual::before, Residual::after};

const input::Table<ArithmeticConfig>& arithmetic_table() {
  using input::Named;
  static const input::Table<ArithmeticConfig> table{
      {"accumulate", &ArithmeticConfig::accumulate, Named{kAccumulators},
       "type of the accumulator: terms are converted to it, and every addition is rounded to it",
       input::otherwise(R"(`"fp32"`; with `"round": "rank"` the tensor's type)")},
      {"round", &ArithmeticConfig::round, input::OneOf{kSumRoundings},
       R"(where partial sums are rounded: `"hop"`, to the wire format when they are sent; )"
       R"(`"rank"`, to the tensor's type at every addition; `"once"`, at the end: plain partial )"
       "sums travel in FP32"},
      {"order", &ArithmeticConfig::order, Named{kOrders},
       R"(`two-shot`, `direct`: terms of a sum as they arrive, own first; `"ranks"`: from rank 0 )"
       R"(on; `"owner"`: own first, then the following ranks)"},
      {"owner", &ArithmeticConfig::owner, Named{kOwners},
       R"(quantized AllGather of an AllReduce: the owner keeps the sent codes' values, or `"summed"`, )"
       "its own sum: ranks then differ"},
      {"subnormals", &ArithmeticConfig::subnormals, Named{kSubnormals},
       R"(`"flush"`: subnormal operands and results of additions become zero)"},
      {"overflow", &ArithmeticConfig::overflow, Named{kOverflows},
       "conversions to types without scales: Inf in bf16 and fp16, the largest value in FP8; or "
       R"(`"saturate"`, `"infinity"` in all)"},
      {"residual", &ArithmeticConfig::residual, Named{kResiduals},
       R"(AllReduce, ReduceScatter: adds a tensor (`residual` of the tensor) `"before"` the sum )"
       R"(is rounded, as a fused kernel, or `"after"`, as an operation of its own)"},
  };
  return table;
}

[[noreturn]] void fail(const std::string& pointer, std::string_view key, const std::string& why) {
  throw input::InputError(input::pointer(pointer, key), why);
}

/// True if partial sums are sent, rather than terms only.
bool sends_partial_sums(const collectives::AlgorithmInfo& algorithm) {
  using collectives::Phase;
  return collectives::sends_partial_sums(algorithm, Phase::reduce_scatter) ||
         collectives::is_of_slices(algorithm.layout);
}

/// True if one kernel adds all terms of a sum, in its accumulator.
bool adds_all_at_once(const collectives::AlgorithmInfo& algorithm) {
  return !sends_partial_sums(algorithm) && !algorithm.in_switch;
}

/// True for formats whose rule prescribes how sums are formed.
bool has_own_sums(const numerics::BlockFormat& format) {
  return format.rule == numerics::ScaleRule::quickreduce ||
         format.rule == numerics::ScaleRule::zeropp || numerics::has_shared_scale(format);
}

void check_sums(const std::string& pointer, const CollectiveConfig& config) {
  const ArithmeticConfig& sums = config.arithmetic;
  const collectives::AlgorithmInfo& algorithm = *config.algorithm;
  if (sums.accumulate && sums.round == RoundSums::rank)
    fail(pointer, "accumulate",
         R"(contradicts "round": "rank", which adds in the tensor's type; remove one of them)");
  const bool changes_sums =
      sums.accumulate || sums.round != RoundSums::hop || sums.subnormals != Subnormals::keep;
  if (!changes_sums) return;
  const std::string_view key = sums.accumulate                ? "accumulate"
                               : sums.round != RoundSums::hop ? "round"
                                                              : "subnormals";
  if (has_own_sums(config.format) || (config.between && has_own_sums(*config.between)))
    fail(pointer, key,
         fmt::format("the sums of '{}' are part of the format; remove it, or use a format like "
                     "\"int8\"",
                     config.format.name));
  if (algorithm.is_published)
    fail(pointer, key,
         fmt::format("'{}' reproduces a published kernel with its own sums; remove it, or use "
                     "\"two-shot\"",
                     algorithm.name));
  const bool scaled = config.quantize != QuantizedPhases::all_gather &&
                      (config.format.scaled || (config.between && config.between->scaled));
  if (sums.round == RoundSums::once && scaled && sends_partial_sums(algorithm))
    fail(pointer, "round",
         fmt::format("'{}' quantizes partial sums at every hop; use \"two-shot\" or "
                     "\"one-shot\", which quantize terms before the sum, or a format without "
                     "scales",
                     algorithm.name));
}

void check_owner(const std::string& pointer, const CollectiveConfig& config,
                 collectives::Collective collective) {
  if (config.arithmetic.owner == OwnerKeeps::sent) return;
  if (collectives::is_of_slices(config.algorithm->layout) || has_casts(config))
    fail(pointer, "owner", "is for AllReduces of one level without casts; remove it");
  const bool gathers_codes = collective == collectives::Collective::all_reduce &&
                             config.algorithm->has_two_phases && config.format.scaled &&
                             config.quantize != QuantizedPhases::reduce_scatter;
  if (!gathers_codes)
    fail(pointer, "owner",
         "is for AllReduces with a quantized AllGather, which changes sums on their way; here all "
         "ranks get the same bits, remove it");
}

void check_residual(const std::string& pointer, const CollectiveConfig& config) {
  if (config.arithmetic.residual == Residual::none) return;
  if (has_casts(config))
    fail(pointer, "residual", "is added in the tensor's type; remove the casts, or it");
  if (config.arithmetic.residual == Residual::before && !adds_all_at_once(*config.algorithm))
    fail(pointer, "residual",
         fmt::format("'{}' has no sum of all terms before it rounds; use \"one-shot\" or "
                     "\"two-shot\", or \"after\"",
                     config.algorithm->name));
}

void check(const std::string& pointer, const CollectiveConfig& config,
           collectives::Collective collective) {
  check_sums(pointer, config);
  if (config.arithmetic.order != collectives::SumOrder::arrival && !config.algorithm->orders_sums)
    fail(pointer, "order",
         fmt::format("'{}' has one order of sums; remove it, or use \"two-shot\"",
                     config.algorithm->name));
  check_owner(pointer, config, collective);
  check_residual(pointer, config);
}

const ArithmeticPreset& read_preset(input::ObjectReader& reader, const CollectiveConfig& config) {
  std::vector<std::string_view> names;
  for (const ArithmeticPreset& preset : arithmetic_presets()) names.push_back(preset.name);
  const ArithmeticPreset& preset = arithmetic_presets()[reader.choice("arithmetic", names)];
  if (std::ranges::find(preset.algorithms, config.algorithm->name) == preset.algorithms.end())
    throw input::InputError(reader.pointer_to("arithmetic"),
                            fmt::format("'{}' is the arithmetic of {}, not of '{}'", preset.name,
                                        input::list_of(preset.algorithms), config.algorithm->name));
  if (config.format.scaled)
    throw input::InputError(
        reader.pointer_to("arithmetic"),
        fmt::format("'{}' is for tensors sent as they are; remove \"format\"", preset.name));
  return preset;
}

}  // namespace

void read_arithmetic(input::ObjectReader& reader, CollectiveConfig& config,
                     collectives::Collective collective) {
  if (!reader.has("arithmetic")) return;
  const std::string pointer = reader.pointer_to("arithmetic");
  if (!collectives::adds(collective))
    throw input::InputError(pointer,
                            fmt::format("is for sums (all-reduce, reduce-scatter); {} adds "
                                        "nothing, remove it",
                                        collectives::name(collective)));
  if (config.algorithm == kAutomatic)
    throw input::InputError(pointer, "is a property of one algorithm; name it instead of \"auto\"");
  if (reader.required("arithmetic", "an object").is_string()) {
    const ArithmeticPreset& preset = read_preset(reader, config);
    config.arithmetic = preset.arithmetic;
    config.arithmetic.preset = preset.name;
  } else {
    input::ObjectReader nested = reader.object("arithmetic");
    arithmetic_table().read(nested, config.arithmetic);
    nested.finish();
  }
  check(pointer, config, collective);
}

bool has_arithmetic(const CollectiveConfig& config, collectives::Collective collective) {
  const ArithmeticConfig& sums = config.arithmetic;
  if (!collectives::adds(collective)) return false;
  if (sums.round == RoundSums::once && !sends_partial_sums(*config.algorithm)) return false;
  try {
    check({}, config, collective);
    return true;
  } catch (const input::InputError&) {
    return false;
  }
}

input::Json arithmetic_json(const ArithmeticConfig& arithmetic) {
  if (arithmetic == ArithmeticConfig{}) return nullptr;
  if (!arithmetic.preset.empty()) return arithmetic.preset;
  return arithmetic_table().write(arithmetic);
}

collectives::Arithmetic arithmetic_of(const ArithmeticConfig& config, ElementFormat dtype) {
  collectives::Arithmetic arithmetic{.accumulate = config.accumulate,
                                     .order = config.order,
                                     .owner = config.owner,
                                     .subnormals = config.subnormals,
                                     .overflow = config.overflow,
                                     .residual = config.residual};
  if (config.round == RoundSums::rank) arithmetic.accumulate = dtype;
  if (config.order != collectives::SumOrder::arrival && !arithmetic.accumulate)
    arithmetic.accumulate = ElementFormat::fp32;
  return arithmetic;
}

std::vector<std::string> arithmetic_words(const ArithmeticConfig& arithmetic) {
  if (!arithmetic.preset.empty()) return {arithmetic.preset};
  std::vector<std::string> words;
  if (arithmetic.accumulate)
    words.push_back(fmt::format("{} sums", numerics::name(*arithmetic.accumulate)));
  if (arithmetic.round == RoundSums::once) words.emplace_back("rounded once");
  if (arithmetic.round == RoundSums::rank) words.emplace_back("rounded at each rank");
  if (arithmetic.order == collectives::SumOrder::ranks) words.emplace_back("in rank order");
  if (arithmetic.order == collectives::SumOrder::owner) words.emplace_back("from the owner on");
  if (arithmetic.owner == OwnerKeeps::summed) words.emplace_back("owner keeps its sum");
  if (arithmetic.subnormals == Subnormals::flush) words.emplace_back("subnormals flushed");
  if (arithmetic.overflow == collectives::Overflow::saturate) words.emplace_back("saturating");
  if (arithmetic.overflow == collectives::Overflow::infinity) words.emplace_back("overflow to Inf");
  if (arithmetic.residual != Residual::none)
    words.push_back(fmt::format("residual {} rounding", collectives::name(arithmetic.residual)));
  return words;
}

input::Json arithmetic_schema() {
  std::vector<std::string_view> names;
  for (const ArithmeticPreset& preset : arithmetic_presets()) names.push_back(preset.name);
  input::Json schema = arithmetic_table().schema();
  schema.erase("type");
  schema["anyOf"] = {input::enum_schema(names), {{"type", "object"}}};
  return schema;
}

}  // namespace equarx::config
