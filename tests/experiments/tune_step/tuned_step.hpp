// Shared steps of the tune_step tests.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/input/json.hpp"
#include "experiments/config/step_json.hpp"
#include "experiments/tune_step/tune.hpp"
#include "tests/support/steps.hpp"

namespace equarx::tune_step {

/// A step with mostly exposed buckets and a small gather that its compute hides completely.
inline input::Json exposed_step() {
  input::Json json = testing::good_step();
  json.erase("variants");
  json["step"]["tasks"] = input::Json::parse(R"([
    {"name": "gather", "collective": {"kind": "all-gather", "axes": ["fsdp"], "bytes": "64 KiB"}},
    {"name": "forward", "compute": {"time": "1 ms"}},
    {"name": "backward {i}", "repeat": 4, "compute": {"flops": 2e9}},
    {"name": "bucket {i}", "repeat": 4, "after": ["backward {i}"],
     "collective": {"kind": "all-reduce", "axes": ["data"], "bytes": "8 MiB"}}
  ])");
  return json;
}

inline tune::TuneOptions with_formats(std::vector<std::string> formats) {
  tune::TuneOptions options;
  options.formats = std::move(formats);
  return options;
}

inline StepTuneResult tuned(const input::Json& json, const tune::TuneOptions& options) {
  return tune_step(config::read_step_config(json), options, [](const std::string&) {});
}

}  // namespace equarx::tune_step
