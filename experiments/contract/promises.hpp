// Promises about the numbers of a collective, and whether its contract keeps them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/input/json_value.hpp"
#include "experiments/contract/contract.hpp"

namespace equarx::contract {

/// A property of a contract that a user may require.
enum class Promise : std::uint8_t {
  fp32_sums,     ///< RoundingPath::sums_in_fp32
  one_rounding,  ///< at most one rounding, apart from FP32 additions, between input and result
  deterministic,
  no_overflow,  ///< no conversion overflows or saturates, for these inputs
  same_bits_on_all_ranks,
  same_bits_at_all_cuts,
  same_bits_at_all_sizes,
  same_bits_on_fewer_ranks,
};

inline constexpr std::array kPromises = {Promise::fp32_sums,
                                         Promise::one_rounding,
                                         Promise::deterministic,
                                         Promise::no_overflow,
                                         Promise::same_bits_on_all_ranks,
                                         Promise::same_bits_at_all_cuts,
                                         Promise::same_bits_at_all_sizes,
                                         Promise::same_bits_on_fewer_ranks};

/// "fp32-sums"
std::string_view name(Promise promise);

/// "fp32-sums, no-overflow"; "no promise" without any
std::string names_text(std::span<const Promise> promises);

input::Json names_json(std::span<const Promise> promises);

/// Promises by name, each once. @throws input::InputError for unknown and repeated names, naming
/// --contract
std::vector<Promise> read_promises(const std::vector<std::string>& names);

/// Returns how a contract breaks a promise; an empty string if it keeps it, or lacks the part that
/// decides it.
std::string why_broken(const CollectiveContract& contract, Promise promise);

/// The fastest of some collectives that keeps promises.
struct KeptBy {
  std::vector<Promise> promises;  ///< none: any collective
  std::string label;              ///< of the collective; empty if none keeps them
  double time_s = 0.0;
};

/// The fastest collective of a contract for each promise that its parts decide, alone; first without
/// any.
std::vector<KeptBy> fastest_by_promise(const Contract& contract);

/// A table of promises, with the time that each costs over the first row, without any.
std::string costs_table(std::span<const KeptBy> rows);
/// The same as a list: `promises`, `label`, `time_s`; null without a collective.
input::Json costs_json(std::span<const KeptBy> rows);

/// A promise that is not kept, and how.
struct Broken {
  Promise promise{};
  std::string reason;  ///< "7 roundings to bf16"
};

/// The first of `promises` that the only collective of a configuration breaks; std::nullopt if it
/// keeps all. Promises that the program decides come first. `sample`: share of the tensor whose
/// values are computed. @throws input::InputError as make_contract()
std::optional<Broken> find_broken(const config::ExperimentConfig& config,
                                  std::span<const Promise> promises, double sample,
                                  unsigned threads);

}  // namespace equarx::contract
