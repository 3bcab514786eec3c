#include "experiments/config/step_when.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/input/codecs.hpp"
#include "base/input/errors.hpp"
#include "base/input/fields.hpp"
#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "base/input/pointer.hpp"

namespace equarx::config {
namespace {

constexpr std::string_view kWhen = "when";
constexpr std::string_view kEvery = "every";
constexpr std::string_view kUploads = "uploads";
constexpr std::uint32_t kMostEvery = 100'000;
constexpr std::uint64_t kLongestCycle = 100'000;  // steps
constexpr std::size_t kMostKinds = 64;
constexpr double kRounding = 1e-9;  // of shares

/// A mean number of chips as the numbers below and above it.
std::vector<Uploads> around(double mean) {
  const double below = std::floor(mean + kRounding);
  const double above = std::max(0.0, mean - below);
  const auto chips = static_cast<std::uint32_t>(below);
  if (above < kRounding) return {{chips, 1.0}};
  return {{chips + 1, above}, {chips, 1.0 - above}};
}

/// Numbers of chips by step, as shares of the steps.
std::vector<Uploads> shares_of(const input::Json& counts, const std::string& pointer,
                               std::uint32_t most) {
  if (!counts.is_array() || counts.empty())
    throw input::InputError(pointer, "expected the chips that send in each step, like [10, 3, 4]");
  std::map<std::uint32_t, std::size_t, std::greater<>> steps;
  for (std::size_t i = 0; i < counts.size(); ++i)
    ++steps[static_cast<std::uint32_t>(
        input::read_integer(counts[i], input::pointer(pointer, i), 0, most))];
  std::vector<Uploads> shares;
  for (const auto& [chips, count] : steps)
    shares.push_back({chips, static_cast<double>(count) / static_cast<double>(counts.size())});
  return shares;
}

std::vector<Uploads> read_uploads(const input::Json& value, const std::string& pointer,
                                  const TimedCall& call) {
  if (call.collective != collectives::Collective::all_reduce)
    throw input::InputError(pointer,
                            "is for AllReduces through a server; add \"where\" with "
                            "\"collective\": \"all-reduce\"");
  const std::uint32_t most = call.chips - 1;
  if (value.is_number()) return around(input::read_share(value, pointer) * most);
  return shares_of(value, pointer, most);
}

/// An AllReduce with fewer senders runs through a server.
void use_server(input::Json& rule, const std::string& pointer) {
  constexpr std::string_view kServer = "server";
  const input::Json& algorithm = rule.emplace("algorithm", kServer).first.value();
  if (algorithm != kServer)
    throw input::InputError(
        input::pointer(pointer, "algorithm"),
        "takes part with all chips; use \"server\", or remove \"uploads\" of \"when\"");
}

/// Chips that send in the steps at `at`, if steps with the most chips are at 0 and others up to 1.
std::uint32_t chips_at(const When& when, double at) {
  double end = 0.0;
  for (const Uploads& uploads : when.uploads) {
    end += uploads.share;
    if (at < end) return uploads.chips;
  }
  return when.uploads.back().chips;
}

/// Numbers of chips by collective, with their shares.
std::vector<StepKind> upload_kinds(const std::vector<When>& when) {
  std::vector<double> ends = {1.0};
  for (const When& one : when) {
    double end = 0.0;
    for (const Uploads& uploads : one.uploads) ends.push_back(end += uploads.share);
  }
  std::ranges::sort(ends);
  std::vector<StepKind> kinds;
  double begin = 0.0;
  for (const double end : ends) {
    if (end - begin < kRounding) continue;
    StepKind kind{end - begin, std::vector<bool>(when.size()), {}};
    for (const When& one : when)
      kind.uploads.push_back(
          one.uploads.empty() ? std::nullopt : std::optional(chips_at(one, (begin + end) / 2.0)));
    kinds.push_back(std::move(kind));
    begin = end;
  }
  return kinds;
}

/// Collectives that are skipped, and in how many steps of a cycle.
using Skipped = std::pair<std::vector<bool>, std::uint64_t>;

/// The first skips the fewest.
std::vector<Skipped> skipped_in_cycle(const std::vector<When>& when, std::uint64_t cycle) {
  std::vector<Skipped> found;
  for (std::uint64_t step = cycle; step > 0; --step) {
    std::vector<bool> skipped;
    for (const When& one : when) skipped.push_back(step % one.every != 0);
    const auto known = std::ranges::find(found, skipped, &Skipped::first);
    if (known != found.end())
      ++known->second;
    else
      found.emplace_back(std::move(skipped), 1);
  }
  return found;
}

/// Adds a kind; its share alone if another communicates alike.
void add(StepKind kind, std::vector<StepKind>& kinds) {
  for (std::size_t call = 0; call < kind.skipped.size(); ++call)
    if (kind.skipped[call]) kind.uploads[call] = std::nullopt;
  const auto alike = std::ranges::find_if(kinds, [&](const StepKind& known) {
    return known.skipped == kind.skipped && known.uploads == kind.uploads;
  });
  if (alike != kinds.end())
    alike->share += kind.share;
  else
    kinds.push_back(std::move(kind));
}

std::uint64_t cycle_of(const std::vector<When>& when) {
  std::uint64_t cycle = 1;
  for (const When& one : when) {
    cycle = std::lcm(cycle, std::uint64_t{one.every});
    if (cycle > kLongestCycle)
      throw input::InputError("/variants",
                              fmt::format("rules with \"every\" repeat after more than {} steps; "
                                          "use numbers that divide each other",
                                          kLongestCycle));
  }
  return cycle;
}

}  // namespace

void load_uploads(input::Json& rule, const std::string& pointer) {
  const auto when = rule.find(kWhen);
  if (when == rule.end() || !when->is_object()) return;
  const auto uploads = when->find(kUploads);
  if (uploads == when->end() || !uploads->is_string()) return;
  *uploads = input::read_named_file(
      uploads->get<std::string>(), input::pointer(input::pointer(pointer, kWhen), kUploads),
      [](const std::string& text) { return input::parse_json(text); });
}

When take_when(input::Json& rule, const std::string& pointer, const TimedCall& call) {
  When when;
  if (!rule.contains(kWhen)) return when;
  const input::Json value = std::exchange(rule[std::string(kWhen)], nullptr);
  rule.erase(std::string(kWhen));
  const std::string at = input::pointer(pointer, kWhen);
  if (value == "always") return when;
  if (!value.is_object())
    throw input::InputError(
        at, "expected \"always\", {\"every\": 10}, or the share of chips in {\"uploads\": 0.3}");
  input::ObjectReader reader(value, at);
  if (!reader.has(kEvery) && !reader.has(kUploads))
    throw input::InputError(at, "is empty; give \"every\", \"uploads\", or both");
  if (!collectives::adds(call.collective))
    throw input::InputError(at, fmt::format("is for sums, and the rule matches an {}; add "
                                            "\"where\" with the collective of the gradients",
                                            collectives::name(call.collective)));
  if (reader.has(kEvery))
    when.every = static_cast<std::uint32_t>(reader.integer(kEvery, 1, kMostEvery));
  const bool is_lazy = reader.has(kUploads);
  reader.finish();
  if (!is_lazy) return when;
  when.uploads = read_uploads(value.at(std::string(kUploads)), input::pointer(at, kUploads), call);
  use_server(rule, pointer);
  return when;
}

std::vector<StepKind> kinds_of(const std::vector<When>& when) {
  const std::uint64_t cycle = cycle_of(when);
  std::vector<StepKind> kinds;
  for (const auto& [skipped, steps] : skipped_in_cycle(when, cycle))
    for (StepKind kind : upload_kinds(when)) {
      kind.share *= static_cast<double>(steps) / static_cast<double>(cycle);
      kind.skipped = skipped;
      add(std::move(kind), kinds);
      if (kinds.size() > kMostKinds)
        throw input::InputError("/variants",
                                fmt::format("\"when\" gives more than {} kinds of step, each of "
                                            "which is simulated; use fewer different numbers",
                                            kMostKinds));
    }
  return kinds;
}

bool always_communicates(const std::vector<StepKind>& kinds) {
  const auto is_given = [](const std::optional<std::uint32_t>& uploads) {
    return uploads.has_value();
  };
  return kinds.size() == 1 && std::ranges::none_of(kinds.front().uploads, is_given);
}

namespace {

/// A share, or numbers of chips by step, or a file with them.
input::Json uploads_schema() {
  return input::one_of({input::Share{}.schema(),
                        input::schema_of(R"({"type": "array", "minItems": 1,
                          "items": {"type": "integer", "minimum": 0}})"),
                        input::Text{}.schema()});
}

/// Keys of an object.
input::Json when_object_schema() {
  using input::Elsewhere;
  static const input::Table<input::ReadElsewhere> table{
      {std::string_view(kEvery), Elsewhere{input::Integer{1, kMostEvery}},
       "runs in one of so many steps, which the others do without", input::by_default("1")},
      {std::string_view(kUploads), Elsewhere{uploads_schema},
       "AllReduce through a server, chip 0 of a group: mean share of the other chips that send; or "
       "how many do in each step, as a list or the path of a JSON file with it",
       input::otherwise("all")}};
  return table.schema();
}

}  // namespace

input::Json when_schema() {
  return input::one_of({input::schema_of(R"({"enum": ["always"]})"), when_object_schema()});
}

}  // namespace equarx::config
