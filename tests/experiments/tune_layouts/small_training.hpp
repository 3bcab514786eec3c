// Training steps on small machines shared by the tests of layouts.
#pragma once

#include <string>

#include "base/input/json.hpp"
#include "experiments/config/step_json.hpp"

namespace equarx::tune_layouts {

/// Llama 3 8B on four chips of a switch.
inline input::Json small_training() {
  return input::Json::parse(R"({
    "hardware": "gb200",
    "topology": {"switch": 4},
    "mesh": {"fsdp": 4},
    "step": {"training": {"model": "llama3-8b", "sequence": 1024, "batch": 4, "sequence_parallel": true}},
    "variants": [{"label": "int8", "quantize": [{"format": "int8"}]}]
  })");
}

/// A model with experts on a torus of eight chips, in several microbatches.
inline input::Json torus_training() {
  return input::Json::parse(R"({
    "hardware": {"based_on": "tpu-v6e", "hbm_capacity": "2 TiB"},
    "topology": {"torus": "4x2"},
    "mesh": {"fsdp": 8},
    "step": {"training": {"model": "mixtral-8x7b", "sequence": 512, "batch": 8, "buckets": 3}}
  })");
}

/// Two nodes of four chips joined by a network.
inline input::Json network_training() {
  input::Json json = small_training();
  json["topology"] = input::Json::parse(R"({"switch": 4, "network": {"slices": 2,
      "bandwidth": "50 GB/s", "latency": "5 us", "chips_per_port": 1}})");
  json["mesh"] = input::Json::parse(R"({"pipeline": 2, "tensor": 4, "order": "machine"})");
  json["step"]["training"]["batch"] = 16;
  json["step"]["training"]["sequence_parallel"] = false;
  return json;
}

}  // namespace equarx::tune_layouts
