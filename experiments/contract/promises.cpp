#include "experiments/contract/promises.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "base/input/nearest.hpp"
#include "base/output/table.hpp"
#include "base/units/quantity.hpp"

namespace equarx::contract {
namespace {

bool requires_any(std::span<const Promise> promises, std::initializer_list<Promise> some) {
  return std::ranges::any_of(
      promises, [&](Promise promise) { return std::ranges::find(some, promise) != some.end(); });
}

/// True if the program alone decides it.
bool is_of_program(Promise promise) {
  return promise == Promise::fp32_sums || promise == Promise::one_rounding ||
         promise == Promise::deterministic;
}

/// True if a contract has the part that decides a promise.
bool is_decided(const CollectiveContract& contract, Promise promise) {
  if (promise == Promise::same_bits_at_all_sizes) return !contract.sizes.empty();
  if (promise == Promise::same_bits_on_fewer_ranks) return !contract.fewer_ranks.empty();
  return true;
}

std::string rounding_text(const values::RoundingPath& path) {
  std::vector<std::string> parts;
  const auto add = [&](std::uint32_t count, std::string_view what) {
    if (count > 0) parts.push_back(fmt::format("{} {}{}", count, what, count == 1 ? "" : "s"));
  };
  add(path.encodings, "quantization");
  add(path.conversions, "conversion");
  const auto narrow = std::ranges::find_if(path.steps, [](const values::Roundings& step) {
    return step.kind == values::Roundings::Kind::addition &&
           step.format.element != numerics::ElementFormat::fp32;
  });
  if (narrow != path.steps.end())
    add(path.additions, fmt::format("{} addition", numerics::name(narrow->format.element)));
  return fmt::format("{}", fmt::join(parts, " and "));
}

/// Roundings but for FP32 additions.
std::uint32_t roundings(const values::RoundingPath& path) {
  std::uint32_t count = 0;
  for (const values::Roundings& step : path.steps)
    if (step.kind != values::Roundings::Kind::addition ||
        step.format.element != numerics::ElementFormat::fp32)
      count += step.count;
  return count;
}

std::string overflow_text(const CollectiveContract& contract) {
  const values::RangeCounts& ranges = contract.values.ranges;
  const auto text = [](const values::RangeEvents& events, std::string_view what) {
    return fmt::format("{} {}, first element {} on rank {}", events.count, what, events.element,
                       events.rank);
  };
  if (ranges.overflows.count > 0) return text(ranges.overflows, "overflows");
  if (ranges.saturations.count > 0) return text(ranges.saturations, "saturations");
  return {};
}

std::string sizes_text(const CollectiveContract& contract) {
  const auto differs = std::ranges::find_if(
      contract.sizes, [](const SizeCheck& check) { return check.ulps.differing() > 0; });
  return differs == contract.sizes.end()
             ? ""
             : fmt::format("other bits at {}",
                           units::bytes_text(static_cast<double>(differs->bytes)));
}

std::string fewer_ranks_text(const CollectiveContract& contract) {
  for (const RanksCheck& check : contract.fewer_ranks) {
    if (!check.obstacle.empty())
      return fmt::format("{} ranks cannot be tried: {}", check.ranks, check.obstacle);
    if (check.ulps.differing() > 0)
      return fmt::format("other bits on {} rank{}", check.ranks, check.ranks == 1 ? "" : "s");
  }
  return {};
}

}  // namespace

std::string_view name(Promise promise) {
  switch (promise) {
    case Promise::fp32_sums: return "fp32-sums";
    case Promise::one_rounding: return "one-rounding";
    case Promise::deterministic: return "deterministic";
    case Promise::no_overflow: return "no-overflow";
    case Promise::same_bits_on_all_ranks: return "same-bits-on-all-ranks";
    case Promise::same_bits_at_all_cuts: return "same-bits-at-all-cuts";
    case Promise::same_bits_at_all_sizes: return "same-bits-at-all-sizes";
    case Promise::same_bits_on_fewer_ranks: return "same-bits-on-fewer-ranks";
  }
  throw std::logic_error("unknown promise");
}

std::string names_text(std::span<const Promise> promises) {
  if (promises.empty()) return "no promise";
  std::vector<std::string_view> names;
  for (const Promise promise : promises) names.push_back(name(promise));
  return fmt::format("{}", fmt::join(names, ", "));
}

input::Json names_json(std::span<const Promise> promises) {
  input::Json names = input::Json::array();
  for (const Promise promise : promises) names.push_back(name(promise));
  return names;
}

std::vector<Promise> read_promises(const std::vector<std::string>& names) {
  std::vector<std::string_view> all;
  for (const Promise promise : kPromises) all.push_back(name(promise));
  std::vector<Promise> promises;
  for (const std::string& one : names) {
    const auto found = std::ranges::find(all, one);
    if (found == all.end())
      throw input::InputError(
          "--contract", fmt::format("'{}' is no promise; {}", one, input::remedy_of_all(one, all)));
    const Promise promise = kPromises[static_cast<std::size_t>(found - all.begin())];
    if (std::ranges::find(promises, promise) != promises.end())
      throw input::InputError("--contract", fmt::format("'{}' is named twice; name it once", one));
    promises.push_back(promise);
  }
  return promises;
}

std::string why_broken(const CollectiveContract& contract, Promise promise) {
  switch (promise) {
    case Promise::fp32_sums:
      return contract.path.sums_in_fp32
                 ? ""
                 : fmt::format("rounds partial sums: {}", rounding_text(contract.path));
    case Promise::one_rounding:
      return roundings(contract.path) <= 1 ? "" : rounding_text(contract.path);
    case Promise::deterministic: return contract.deterministic ? "" : "rounds randomly";
    case Promise::no_overflow: return overflow_text(contract);
    case Promise::same_bits_on_all_ranks:
      return contract.values.ranks_identical
                 ? ""
                 : fmt::format("{} elements differ", contract.values.differing);
    case Promise::same_bits_at_all_cuts:
      return contract.same_at_all_cuts ? "" : "other bits with other cuts";
    case Promise::same_bits_at_all_sizes: return sizes_text(contract);
    case Promise::same_bits_on_fewer_ranks: return fewer_ranks_text(contract);
  }
  throw std::logic_error("unknown promise");
}

std::vector<KeptBy> fastest_by_promise(const Contract& contract) {
  const auto fastest = [&](const std::vector<Promise>& promises) {
    KeptBy kept{.promises = promises, .label = {}, .time_s = 0.0};
    for (const CollectiveContract& one : contract.collectives) {
      const bool keeps = std::ranges::all_of(
          promises, [&](Promise promise) { return why_broken(one, promise).empty(); });
      if (!keeps || (!kept.label.empty() && one.time_s >= kept.time_s)) continue;
      kept.label = one.label;
      kept.time_s = one.time_s;
    }
    return kept;
  };
  std::vector<KeptBy> rows = {fastest({})};
  for (const Promise promise : kPromises)
    if (is_decided(contract.collectives.front(), promise)) rows.push_back(fastest({promise}));
  return rows;
}

std::string costs_table(std::span<const KeptBy> rows) {
  std::vector<output::TableRow> table = {{"promise", "fastest that keeps it", "time", "cost"}};
  for (const KeptBy& row : rows) {
    const std::string promises = row.promises.size() > 1 ? "all of them" : names_text(row.promises);
    if (row.label.empty()) {
      table.push_back({promises, "none", "-", "-"});
      continue;
    }
    const double more = row.time_s / rows.front().time_s - 1.0;
    table.push_back({promises, row.label, units::time_text(row.time_s),
                     &row == &rows.front() ? "-"
                     : more < 5e-4         ? "none"
                                           : fmt::format("{:+.1f} %", 100.0 * more)});
  }
  return output::aligned_table(table);
}

input::Json costs_json(std::span<const KeptBy> rows) {
  input::Json list = input::Json::array();
  for (const KeptBy& row : rows) {
    const bool kept = !row.label.empty();
    list.push_back({{"promises", names_json(row.promises)},
                    {"label", kept ? input::Json(row.label) : input::Json(nullptr)},
                    {"time_s", kept ? input::Json(row.time_s) : input::Json(nullptr)}});
  }
  return list;
}

std::optional<Broken> find_broken(const config::ExperimentConfig& config,
                                  std::span<const Promise> promises, double sample,
                                  unsigned threads) {
  ContractOptions options = {.threads = threads,
                             .sizes = false,
                             .ranks = false,
                             .times = false,
                             .values = false,
                             .cuts = false,
                             .sample = sample,
                             .to_first_difference = true};
  const auto check = [&](auto decides) -> std::optional<Broken> {
    std::vector<Promise> some;
    std::ranges::copy_if(promises, std::back_inserter(some), decides);
    if (some.empty()) return std::nullopt;
    const CollectiveContract contract = make_contract(config, options).collectives.front();
    for (const Promise promise : some)
      if (std::string reason = why_broken(contract, promise); !reason.empty())
        return Broken{promise, std::move(reason)};
    return std::nullopt;
  };
  if (auto broken = check(is_of_program)) return broken;
  options.values = requires_any(promises, {Promise::no_overflow, Promise::same_bits_on_all_ranks});
  options.cuts = requires_any(promises, {Promise::same_bits_at_all_cuts});
  options.sizes = requires_any(promises, {Promise::same_bits_at_all_sizes});
  options.ranks = requires_any(promises, {Promise::same_bits_on_fewer_ranks});
  return check([](Promise promise) { return !is_of_program(promise); });
}

}  // namespace equarx::contract
