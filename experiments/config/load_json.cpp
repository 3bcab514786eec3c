#include "experiments/config/load_json.hpp"

#include <array>
#include <string>

#include <fmt/format.h>

#include "base/input/codecs.hpp"
#include "base/input/enum_names.hpp"
#include "base/input/errors.hpp"
#include "base/input/fields.hpp"
#include "base/input/json.hpp"
#include "experiments/config/request_trace.hpp"

namespace equarx::config {
namespace {

using serving::Length;
using serving::LengthKind;
using serving::Load;

constexpr std::uint64_t kMostRequestTokens = std::uint64_t{1} << 32;
constexpr std::uint64_t kMostRequests = 10'000'000;
constexpr std::uint64_t kMostSeeds = 0xFFFFFFFF;

constexpr input::EnumNames<serving::Arrivals, 2> kArrivals({
    {serving::Arrivals::poisson, "poisson"},
    {serving::Arrivals::regular, "regular"},
});
constexpr input::EnumNames<LengthKind, 3> kLengthKinds({
    {LengthKind::fixed, "fixed"},
    {LengthKind::uniform, "uniform"},
    {LengthKind::lognormal, "lognormal"},
});

/// Keys of a drawn length.
const input::Table<Length>& length_table() {
  using input::Integer;
  static const input::Table<Length> table{
      {{"distribution", &Length::kind, input::OneOf{kLengthKinds},
        "`\"uniform\"` from `least` to `most`, or `\"lognormal\"` with `mean` and `cv`"},
       {"mean", &Length::mean, input::Positive{}, "tokens",
        input::otherwise("none; required unless `\"uniform\"`")},
       {"cv", &Length::cv, input::Positive{}, "standard deviation / mean",
        input::otherwise("none; required for `\"lognormal\"`")},
       {"least", &Length::least, Integer{1, kMostRequestTokens}, "smallest number of tokens"},
       {"most", &Length::most, Integer{1, kMostRequestTokens}, "largest number of tokens",
        input::otherwise("none; required for `\"uniform\"`")}},
      {.definition = "length"}};
  return table;
}

void check(input::ObjectReader& reader, const Length& length) {
  const auto require = [&](std::string_view key, std::string_view example) {
    if (!reader.has(key)) reader.required(key, std::string(example));
  };
  if (length.kind == LengthKind::uniform) {
    reader.reject("mean", R"(is not of "uniform"; it has "least" and "most")");
    require("most", "a number of tokens, like 2048");
  } else {
    require("mean", "a number of tokens, like 1024");
  }
  if (length.kind == LengthKind::lognormal)
    require("cv", "a standard deviation / mean, like 1.0");
  else
    reader.reject("cv", R"(is of "lognormal" only)");
  if (length.least > length.most)
    throw input::InputError(reader.pointer_to("least"), "is above \"most\"");
  if (length.kind != LengthKind::uniform && length.mean < 1.0)
    throw input::InputError(reader.pointer_to("mean"), "is below 1 token");
}

/// A number of tokens, or their distribution.
struct LengthValue {
  void read(input::ObjectReader& reader, std::string_view key, Length& length) const {
    length = {};
    if (!reader.required(key, "a number of tokens, like 1024").is_object()) {
      std::uint64_t tokens = 1;
      input::Integer{1, kMostRequestTokens}.read(reader, key, tokens);
      length.mean = static_cast<double>(tokens);
      return;
    }
    input::ObjectReader nested = reader.object(key);
    length_table().read(nested, length);
    check(nested, length);
    nested.finish();
  }
  input::Json write(const Length& length) const {
    if (length.kind == LengthKind::fixed) return static_cast<std::uint64_t>(length.mean);
    input::Json json = length_table().write(length);
    if (length.kind == LengthKind::uniform) json.erase("mean");
    if (length.kind == LengthKind::uniform) json.erase("cv");
    return json;
  }
  input::Json schema() const {
    return input::one_of({input::Integer{1, kMostRequestTokens}.schema(), length_table().schema()});
  }
};

/// A number from 0 to `most`.
struct FromZero {
  double most = 1.0;

  void read(input::ObjectReader& reader, std::string_view key, double& number) const {
    number = reader.number(key, fmt::format("a number from 0 to {:g}", most));
    if (!(number >= 0.0 && number <= most))
      throw input::InputError(reader.pointer_to(key), fmt::format("is not from 0 to {:g}", most));
  }
  input::Json write(double number) const { return number; }
  input::Json schema() const { return {{"type", "number"}, {"minimum", 0}, {"maximum", most}}; }
};

constexpr double kMostZipf = 10.0;

/// Keys of texts that start prompts.
const input::Table<serving::Prefixes>& prefixes_table() {
  using serving::Prefixes;
  static const input::Table<Prefixes> table{
      {"count", &Prefixes::count, input::Integer{1, kMostRequests}, "number of texts",
       input::kRequired},
      {"tokens", &Prefixes::tokens, input::Integer{1, kMostRequestTokens},
       "of each text, and part of `prompt`; shorter prompts are all prefix", input::kRequired},
      {"zipf", &Prefixes::zipf, FromZero{kMostZipf},
       "the k-th text starts a share of the prompts that is proportional to k^-zipf; 0: all are "
       "equally frequent"}};
  return table;
}

/// Keys of drawn requests.
const input::Table<Load>& drawn_table() {
  using input::Integer;
  static const input::Table<Load> table{
      {"requests", &Load::requests, Integer{1, kMostRequests}, "number of requests"},
      {"arrivals", &Load::arrivals, input::OneOf{kArrivals},
       "times between arrivals at `requests_per_s`: exponential, or all equal (`\"regular\"`)"},
      {"prompt", &Load::prompt, LengthValue{},
       "tokens of a prompt: a number, or a [distribution](#lengths)", input::by_default("1024")},
      {"output", &Load::output, LengthValue{},
       "tokens generated: a number, or a [distribution](#lengths)", input::by_default("256")},
      {"prefixes", &Load::prefixes, input::Nested{prefixes_table},
       "texts that start prompts, for a [prefix cache](#prefix-cache)", input::otherwise("none")},
      {"seed", &Load::seed, Integer{0, kMostSeeds}, "of arrivals, lengths and prefixes"}};
  return table;
}

/// Keys of any load.
const input::Table<Load>& load_table() {
  static const input::Table<Load> table{
      {"requests_per_s", &Load::rate, input::Positive{}, "mean rate of arrivals",
       input::otherwise("one of three")},
      {"concurrency", &Load::concurrency, input::Integer{1, kMostRequests},
       "requests in flight: the next one arrives when one has ended",
       input::otherwise("one of three")},
      {"shared_prefix", &Load::shared_prefix, FromZero{},
       "share of each prompt that starts all prompts alike: cached once per replica, and not "
       "computed"}};
  return table;
}

const input::Table<ServingConfig>& trace_table() {
  static const input::Table<ServingConfig> table{
      {"trace", &ServingConfig::trace, input::Text{"the path of a CSV file of requests"},
       "[CSV file](#traces) of arrivals, prompts and outputs", input::otherwise("one of three")}};
  return table;
}

constexpr std::array<std::string_view, 3> kLoadSources = {"requests_per_s", "concurrency", "trace"};

}  // namespace

void read_load(input::ObjectReader reader, ServingConfig& config) {
  const std::string_view source = input::exactly_one(reader, kLoadSources, "/serving/load");
  if (source.empty())
    throw input::InputError(
        "/serving/load", "has no arrivals; add \"requests_per_s\", \"concurrency\" or \"trace\"");
  load_table().read(reader, config.load);
  if (source == "trace") {
    for (const std::string_view key :
         {"requests", "arrivals", "prompt", "output", "prefixes", "seed"})
      reader.reject(key, "is for drawn requests; a trace lists them");
    trace_table().read(reader, config);
    if (config.trace.empty())
      throw input::InputError(reader.pointer_to("trace"), "is empty; give the path of a CSV file");
    config.load.listed = read_request_trace(config.trace);
  } else {
    drawn_table().read(reader, config.load);
  }
  reader.finish();
}

input::Json load_json(const ServingConfig& config) {
  input::Json json = load_table().write(config.load);
  if (config.trace.empty())
    drawn_table().write(config.load, json);
  else
    trace_table().write(config, json);
  return json;
}

input::Json load_schema() {
  return input::joined({load_table().schema(), trace_table().schema(), drawn_table().schema()});
}

}  // namespace equarx::config
