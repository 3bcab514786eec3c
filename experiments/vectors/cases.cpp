#include "experiments/vectors/cases.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/input/nearest.hpp"
#include "models/formats/float_type.hpp"
#include "models/numerics/codec/round_values.hpp"
#include "models/numerics/inputs/inputs.hpp"

namespace equarx::vectors {
namespace {

using numerics::ElementFormat;
using numerics::FloatType;

constexpr std::uint64_t kShort = 256;  ///< elements of most cases, about
constexpr std::uint64_t kLong = 1024;  ///< of cases that fill scale groups
constexpr std::uint64_t kUneven = 3;   ///< elements past the last multiple of the ranks
constexpr std::uint64_t kShard = 16;   ///< of a rank, in the uneven case
constexpr std::uint64_t kSeed = 1;

/// One element of one rank.
struct Place {
  std::uint64_t element = 0;
  std::uint32_t rank = 0;
  std::uint32_t ranks = 0;

  /// Rank relative to the one that has the largest or only special value: another every `period`
  /// elements.
  std::uint32_t turn(std::uint64_t period) const {
    return static_cast<std::uint32_t>((rank + element / period) % ranks);
  }
};

/// All four pairs of signs, and x - x.
float zeros(const FloatType& /*type*/, const Place& place) {
  constexpr std::uint64_t kKinds = 4;
  const bool is_odd = place.rank % 2 == 1;
  switch (place.element % kKinds) {
    case 0: return 0.0F;
    case 1: return -0.0F;
    case 2: return is_odd ? -0.0F : 0.0F;
    default: return place.turn(kKinds) == 0 ? 1.0F : place.turn(kKinds) == 1 ? -1.0F : -0.0F;
  }
}

/// Multiples of the smallest subnormal value; some sums are normal.
float subnormals(const FloatType& type, const Place& place) {
  constexpr std::uint64_t kElementStep = 37;  // coprime to powers of two
  constexpr std::uint64_t kRankStep = 101;
  const auto normal = std::uint64_t{1} << type.fraction_bits;
  const std::uint64_t spread = place.element * kElementStep + place.rank * kRankStep;
  const std::uint64_t steps =
      (place.element % 2 == 0 ? spread : normal - 1 - spread % normal) % normal;
  const float value =
      std::ldexp(static_cast<float>(steps), type.smallest_exponent - type.fraction_bits);
  return (place.element / 2 + place.rank) % 3 == 0 ? -value : value;
}

/// One rank has a value from 1 to 2, others half a step or little more or less.
float ties(const FloatType& type, const Place& place) {
  constexpr std::uint64_t kKinds = 4;
  const std::uint32_t turn = place.turn(kKinds);
  const auto steps = std::uint64_t{1} << type.fraction_bits;
  const float step = std::ldexp(1.0F, -type.fraction_bits);
  if (turn == 0) return 1.0F + static_cast<float>(place.element / kKinds % steps) * step;
  switch (place.element % kKinds) {
    case 0: return turn == 1 ? step / 2 : 0.0F;                           // a tie
    case 1: return step / 2;                                              // each addition is a tie
    case 2: return turn == 1 ? step / 2 : turn == 2 ? step / 8 : 0.0F;    // above the tie
    default: return turn == 1 ? step / 2 : turn == 2 ? -step / 8 : 0.0F;  // below it
  }
}

/// Sums beyond the largest value, at it, and back from beyond it.
float largest(const FloatType& type, const Place& place) {
  constexpr std::uint64_t kKinds = 6;
  const std::uint32_t turn = place.turn(kKinds);
  const float sign = place.element / kKinds % 2 == 0 ? 1.0F : -1.0F;
  const float half_step =  // of the largest value
      std::ldexp(0.5F, std::ilogb(type.largest) - type.fraction_bits);
  switch (place.element % kKinds) {
    case 0: return sign * type.largest;
    case 1: return turn == 0 ? sign * type.largest : 0.0F;
    case 2: return turn < 2 ? sign * (turn == 0 ? type.largest : half_step) : 0.0F;
    case 3: return turn < 2 ? sign * (turn == 0 ? type.largest : half_step / 2) : 0.0F;
    case 4: return place.rank % 4 < 2 ? sign * type.largest : -sign * type.largest;
    default: return sign * type.largest / 4;
  }
}

/// NaN, Inf, and Inf - Inf, in the first half.
float nonfinite(const FloatType& /*type*/, const Place& place) {
  constexpr std::uint64_t kKinds = 8;
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const std::uint32_t turn = place.turn(kKinds);
  const float finite = 1.0F + static_cast<float>((place.element + place.rank) % 4) / 4;
  if (turn > 1 || place.element * 2 >= elements_of("nonfinite", place.ranks)) return finite;
  switch (place.element % kKinds) {
    case 0: return turn == 0 ? std::numeric_limits<float>::quiet_NaN() : finite;
    case 2: return turn == 0 ? kInf : finite;
    case 4: return turn == 0 ? -kInf : finite;
    case 6: return turn == 0 ? kInf : -kInf;
    default: return finite;
  }
}

/// A large value, 1, the large value's negative, 1.
float cancellation(const FloatType& type, const Place& place) {
  constexpr float kLarge = 1e8F;
  const float large = std::min(kLarge, type.largest / 4);
  const std::array<float, 4> terms = {large, 1.0F, -large, 1.0F};
  return terms[(place.rank + place.element) % terms.size()];
}

using Fill = float (*)(const FloatType&, const Place&);

std::vector<float> normal(std::uint32_t rank, std::uint64_t elements) {
  std::vector<float> values(elements);
  numerics::generate({.seed = kSeed}, rank, 0, values);
  return values;
}

/// Normal values times powers of two that repeat every 25 elements.
std::vector<float> mixed(const FloatType& type, std::uint32_t rank, std::uint64_t elements) {
  constexpr int kMostSpread = 12;
  constexpr std::uint64_t kStep = 7;
  const int spread = std::min(kMostSpread, -type.smallest_exponent / 3);
  const auto kinds = 2 * static_cast<std::uint64_t>(spread) + 1;
  std::vector<float> values = normal(rank, elements);
  for (std::uint64_t i = 0; i < elements; ++i)
    values[i] = std::ldexp(values[i], static_cast<int>(i * kStep % kinds) - spread);
  return values;
}

std::vector<float> filled(Fill fill, const FloatType& type, std::uint32_t rank, std::uint32_t ranks,
                          std::uint64_t elements) {
  std::vector<float> values(elements);
  for (std::uint64_t i = 0; i < elements; ++i) values[i] = fill(type, {i, rank, ranks});
  return values;
}

Fill fill_of(std::string_view name) {
  if (name == "zeros") return zeros;
  if (name == "subnormals") return subnormals;
  if (name == "ties") return ties;
  if (name == "largest") return largest;
  if (name == "nonfinite") return nonfinite;
  if (name == "cancellation") return cancellation;
  return nullptr;
}

constexpr std::array kCases = {
    CaseInfo{kGiven, "the first values of the configuration's tensor"},
    CaseInfo{"normal", "normal values: order and type of additions"},
    CaseInfo{"zeros", "zeros of both signs, and x - x"},
    CaseInfo{"subnormals", "subnormal values and sums: flushing to zero"},
    CaseInfo{"ties", "sums at, just above and just below the middle of two values of the type"},
    CaseInfo{"largest", "sums at and beyond the largest value: Inf, saturation, order"},
    CaseInfo{"nonfinite", "NaN, Inf and Inf - Inf in the first half; the second half is finite"},
    CaseInfo{"cancellation", "1e8, 1, -1e8, 1, or a quarter of the largest value instead of 1e8"},
    CaseInfo{"one-element", "a single element"},
    CaseInfo{"uneven", "a size that is no multiple of the ranks: padding and tails"},
    CaseInfo{"mixed", "magnitudes that differ by 2^24 (less in small types) within scale groups"},
};

}  // namespace

std::span<const CaseInfo> all_cases() { return kCases; }

std::vector<CaseInfo> select_cases(const std::vector<std::string>& names) {
  if (names.empty()) return {kCases.begin(), kCases.end()};
  std::vector<std::string_view> known;
  for (const CaseInfo& one : kCases) known.push_back(one.name);
  std::vector<CaseInfo> chosen;
  for (const std::string& name : names) {
    const auto* const found = std::ranges::find(kCases, name, &CaseInfo::name);
    if (found == kCases.end())
      throw input::InputError("", fmt::format("--cases: unknown case '{}'; {}", name,
                                              input::remedy_of_all(name, known)));
    if (std::ranges::find(chosen, name, &CaseInfo::name) == chosen.end()) chosen.push_back(*found);
  }
  return chosen;
}

std::uint64_t elements_of(std::string_view name, std::uint32_t ranks) {
  if (name == "one-element") return 1;
  if (name == "uneven") return ranks * kShard + kUneven;
  const std::uint64_t about = fill_of(name) == nullptr ? kLong : kShort;
  return std::max<std::uint64_t>(about / ranks, 1) * ranks;
}

std::vector<std::vector<float>> inputs_of(std::string_view name, ElementFormat dtype,
                                          std::uint32_t ranks) {
  const std::uint64_t elements = elements_of(name, ranks);
  const FloatType type = numerics::float_type(dtype).value();
  const Fill fill = fill_of(name);
  std::vector<std::vector<float>> all;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    all.push_back(fill != nullptr   ? filled(fill, type, rank, ranks, elements)
                  : name == "mixed" ? mixed(type, rank, elements)
                                    : normal(rank, elements));
    numerics::round_to_element(dtype, all.back());
  }
  return all;
}

}  // namespace equarx::vectors
