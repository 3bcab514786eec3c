// Shared configurations and checks of the tune tests.
#pragma once

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/input/json.hpp"
#include "experiments/config/json.hpp"
#include "experiments/tune/tune.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"

namespace equarx::tune {

/// A small problem with quantized and plain candidates on the front.
inline input::Json small(const std::string& topology, const std::string& bytes) {
  input::Json json = testing::good_config();
  json["topology"] = input::parse_json(topology);
  json["tensor"] = {{"bytes", bytes}};
  return json;
}

inline TuneOptions with_formats(std::vector<std::string> formats) {
  TuneOptions options;
  options.formats = std::move(formats);
  return options;
}

inline TuneResult tuned(const input::Json& json, const TuneOptions& options) {
  return tune(config::read_config(json), options, [](const std::string&) {});
}

inline TuneResult exhaustive(const input::Json& json, TuneOptions options) {
  options.exhaustive = true;
  return tuned(json, options);
}

inline std::vector<std::tuple<std::size_t, double, double>> points(const TuneResult& result) {
  std::vector<std::tuple<std::size_t, double, double>> found;
  for (const TunedCandidate& candidate : result.front)
    found.emplace_back(candidate.index, candidate.time_s, candidate.nmse);
  return found;
}

inline void check_counts(const TuneCounts& counts) {
  CHECK(counts.by_bound + counts.by_error + counts.by_contract + counts.cannot_run +
            counts.not_tried + counts.failed + counts.simulated ==
        counts.candidates);
  CHECK(counts.errors_computed <= counts.errors);
}

/// Checks that the front equals the exhaustive one with fewer simulations; returns the result.
inline TuneResult check_against_exhaustive(const input::Json& json, const TuneOptions& options) {
  const TuneResult all = exhaustive(json, options);
  TuneResult result = tuned(json, options);
  CHECK(points(result) == points(all));
  CHECK(result.best == all.best);
  CHECK_FALSE(all.theory_refuted);  // no error of the whole space is below its floor
  CHECK_FALSE(result.theory_refuted);
  check_counts(all.counts);
  check_counts(result.counts);
  CHECK(all.counts.by_bound + all.counts.by_error == 0);
  CHECK(all.counts.errors_computed == all.counts.errors);
  CHECK(result.counts.simulated < all.counts.simulated);
  return result;
}

}  // namespace equarx::tune
