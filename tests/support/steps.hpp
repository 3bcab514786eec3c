// Configurations of whole steps shared by tests.
#pragma once

#include <string>

#include "base/input/json.hpp"
#include "tests/support/changed.hpp"

namespace equarx::testing {

/// A small valid configuration of a step with custom tasks: four buckets overlapped with a backward
/// pass.
inline input::Json good_step() {
  return input::Json::parse(R"({
    "hardware": "tpu-v5e",
    "topology": {"torus": "4x4"},
    "mesh": {"data": 4, "fsdp": 4},
    "step": {"tasks": [
      {"name": "forward", "compute": {"time": "1 ms"}},
      {"name": "backward {i}", "repeat": 4, "compute": {"flops": 2e10}},
      {"name": "bucket {i}", "repeat": 4, "after": ["backward {i}"],
       "collective": {"kind": "all-reduce", "axes": ["data"], "bytes": "4 MiB"}},
      {"name": "offload", "after": ["forward"], "host": {"direction": "to-host", "bytes": "1 MiB"}}
    ]},
    "variants": [
      {"label": "bf16"},
      {"label": "int8", "quantize": [{"where": {"axis": "data"}, "format": "int8"}]}
    ]
  })");
}

/// A small valid training configuration: two chips along each axis.
inline input::Json good_training() {
  return input::Json::parse(R"({
    "hardware": "tpu-v5e",
    "topology": {"torus": "2x2x4"},
    "mesh": {"data": 2, "tensor": 2, "fsdp": 4},
    "step": {"training": {"model": "llama3-8b", "sequence": 512, "batch": 8, "remat": "full",
                          "weight_bytes": 2, "moment_bytes": 1}}
  })");
}

/// A small valid serving configuration: four groups of four chips, each with its own prompts.
inline input::Json good_serving() {
  return input::Json::parse(R"({
    "hardware": "tpu-v6e",
    "topology": {"torus": "4x4"},
    "mesh": {"data": 4, "tensor": 4},
    "step": {"workload": {"model": "gemma3-12b", "phase": "decode", "context": 1024, "batch": 8}}
  })");
}

}  // namespace equarx::testing
