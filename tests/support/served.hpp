// Small served models, as configurations.
#pragma once

#include <string>

#include "experiments/config/serving_json.hpp"
#include "tests/support/workloads.hpp"

namespace equarx::testing {

/// The model in a file, on a slice such as "2x2" or "1x1", with few short requests.
inline input::Json served_config(const std::string& model, const std::string& slice = "2x2") {
  return {{"hardware", "tpu-v5e"},
          {"topology", {{"slice", slice}}},
          {"serving",
           {{"model", model},
            {"attention", {{"method", "fused"}, {"skips_future", true}}},
            {"load", {{"requests_per_s", 50}, {"requests", 40}, {"prompt", 100}, {"output", 20}}},
            {"scheduler", {{"sequences", 16}, {"tokens", 256}}}}}};
}

}  // namespace equarx::testing
