// Requests to a served model: arrivals, and lengths of prompts and outputs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace equarx::serving {

/// A prompt, and the number of tokens generated for it. All counts are at least 1.
struct Request {
  double arrival_s = 0.0;  ///< at least 0
  std::uint64_t prompt = 1;
  std::uint64_t output = 1;
  std::uint64_t prefix = 0;         ///< number of the text that starts the prompt
  std::uint64_t prefix_tokens = 0;  ///< of this text, at most those of the prompt
};

/// Shape of a distribution of lengths.
enum class LengthKind : std::uint8_t {
  fixed,     ///< always `mean`
  uniform,   ///< integers from `least` to `most`
  lognormal  ///< with `mean` and `cv` before rounding and limits
};

/// Distribution of a number of tokens.
struct Length {
  LengthKind kind = LengthKind::fixed;
  double mean = 1.0;        ///< at least 1; not of `uniform`
  double cv = 0.0;          ///< standard deviation / mean of `lognormal`; above 0
  std::uint64_t least = 1;  ///< at least 1
  std::uint64_t most = std::uint64_t{1} << 32;
};

/// Times between arrivals.
enum class Arrivals : std::uint8_t {
  poisson,  ///< exponential
  regular   ///< all equal
};

/// Texts that start prompts.
struct Prefixes {
  std::uint64_t count = 1;   ///< of different texts, at least 1
  std::uint64_t tokens = 1;  ///< of each; shorter prompts are all prefix
  double zipf = 0.0;         ///< the k-th text is drawn with weight k^-zipf; at least 0
};

/// Requests as drawn or listed. Either a rate, a concurrency, or listed requests.
struct Load {
  std::uint64_t requests = 1000;    ///< number of requests drawn
  std::optional<double> rate = {};  ///< requests/s; above 0
  /// Requests in flight: the next one arrives when one has finished.
  std::optional<std::uint32_t> concurrency = {};
  Arrivals arrivals = Arrivals::poisson;
  Length prompt = {.mean = 1024.0};
  Length output = {.mean = 256.0};
  /// Share of a prompt that starts all prompts alike, and is cached once per replica; 0 to 1.
  double shared_prefix = 0.0;
  std::optional<Prefixes> prefixes = {};
  std::uint64_t seed = 1;
  std::vector<Request> listed = {};  ///< of a trace, by arrival; the numbers above are then unused
};

/// The requests of a load, by arrival. Those of a concurrency arrive at 0 here. Deterministic: a
/// request depends on seed and position alone, arrivals on all before.
std::vector<Request> draw(const Load& load);

}  // namespace equarx::serving
