#include "models/serving/requests.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "models/numerics/random/philox.hpp"

namespace equarx::serving {
namespace {

/// Independent random streams of a request.
enum class Stream : std::uint32_t { arrival, prompt, output, prefix };

/// Two uniform numbers in (0, 1).
std::array<double, 2> uniforms(std::uint64_t seed, std::uint64_t index, Stream stream) {
  constexpr int kWordBits = 32;
  constexpr int kMantissa = 53;
  const numerics::PhiloxCounter words = numerics::philox4x32(
      {static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> kWordBits),
       static_cast<std::uint32_t>(stream), 0},
      numerics::philox_key(seed));
  const auto uniform = [](std::uint32_t high, std::uint32_t low) {
    const std::uint64_t bits =
        (std::uint64_t{high} << kWordBits | low) >> (2 * kWordBits - kMantissa);
    return (static_cast<double>(bits) + 0.5) * std::ldexp(1.0, -kMantissa);  // NOLINT: centre
  };
  return {uniform(words[0], words[1]), uniform(words[2], words[3])};
}

/// Standard normal number by the method of Box and Muller.
double normal(const std::array<double, 2>& uniform) {
  return std::sqrt(-2.0 * std::log(uniform[0])) * std::cos(2.0 * std::numbers::pi * uniform[1]);
}

double drawn(const Length& length, const std::array<double, 2>& uniform) {
  switch (length.kind) {
    case LengthKind::fixed: return length.mean;
    case LengthKind::uniform:
      return static_cast<double>(length.least) +
             std::floor(uniform[0] * static_cast<double>(length.most - length.least + 1));
    case LengthKind::lognormal: {
      const double variance = std::log1p(length.cv * length.cv);
      return length.mean * std::exp(std::sqrt(variance) * normal(uniform) - variance / 2.0);
    }
  }
  return length.mean;
}

std::uint64_t tokens(const Length& length, const std::array<double, 2>& uniform) {
  const double rounded = std::round(drawn(length, uniform));
  const double limited =
      std::clamp(rounded, static_cast<double>(length.least), static_cast<double>(length.most));
  return static_cast<std::uint64_t>(limited);
}

/// Sums of the weights of texts, up to each.
std::vector<double> summed_weights(const Prefixes& prefixes) {
  std::vector<double> sums(prefixes.count);
  double sum = 0.0;
  for (std::uint64_t k = 0; k < prefixes.count; ++k)
    sums[k] = sum += std::pow(static_cast<double>(k + 1), -prefixes.zipf);
  return sums;
}

/// Draws the text that starts each prompt.
void add_prefixes(const Prefixes& prefixes, std::uint64_t seed, std::vector<Request>& requests) {
  const std::vector<double> sums = summed_weights(prefixes);
  for (std::uint64_t i = 0; i < requests.size(); ++i) {
    const double place = uniforms(seed, i, Stream::prefix)[0] * sums.back();
    const auto text = std::ranges::lower_bound(sums, place) - sums.begin();
    requests[i].prefix = std::min(static_cast<std::uint64_t>(text), prefixes.count - 1);
    requests[i].prefix_tokens = std::min(prefixes.tokens, requests[i].prompt);
  }
}

}  // namespace

std::vector<Request> draw(const Load& load) {
  if (!load.listed.empty()) return load.listed;
  std::vector<Request> requests(load.requests);
  double now_s = 0.0;
  for (std::uint64_t i = 0; i < requests.size(); ++i) {
    if (load.rate) {
      const double gap = load.arrivals == Arrivals::regular
                             ? 1.0
                             : -std::log(uniforms(load.seed, i, Stream::arrival)[0]);
      now_s += gap / *load.rate;
    }
    requests[i] = {.arrival_s = now_s,
                   .prompt = tokens(load.prompt, uniforms(load.seed, i, Stream::prompt)),
                   .output = tokens(load.output, uniforms(load.seed, i, Stream::output))};
  }
  if (load.prefixes) add_prefixes(*load.prefixes, load.seed, requests);
  return requests;
}

}  // namespace equarx::serving
