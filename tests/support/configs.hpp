// Base configurations for tests.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <unistd.h>

#include "base/input/embedded.hpp"
#include "base/input/json.hpp"
#include "experiments/config/json.hpp"
#include "experiments/plan/plan.hpp"
#include "experiments/run/experiment.hpp"
#include "tests/support/changed.hpp"

namespace equarx::testing {

/// Formats without scales, by name.
inline const std::vector<std::string> kPlainFormats = {"fp32",
                                                       "bf16",
                                                       "fp16",
                                                       "int8-cast",
                                                       "fp8-e4m3-cast",
                                                       "fp8-e5m2-cast",
                                                       "fp8-e4m3fnuz-cast",
                                                       "fp8-e5m2fnuz-cast"};

/// A small valid configuration with every key of its first two levels.
inline input::Json good_config() {
  return input::parse_json(R"({
    "hardware": "tpu-v5e",
    "topology": { "slice": "4x2" },
    "tensor": { "shape": [64, 1024], "dtype": "bf16",
                "values": { "distribution": "normal", "seed": 1, "ranks": "independent" } },
    "collectives": [
      { "label": "bf16", "algorithm": "ring", "format": "bf16" },
      { "label": "int8", "algorithm": "equarx", "ring": "full-loop", "quantize": "both",
        "format": "int8", "minishards": 2, "microshards": 2 }
    ],
    "baseline": "bf16",
    "wire_buffers": "vmem",
    "timed_as": "step",
    "numerics": "on",
    "simulation": "auto",
    "engine": "auto"
  })");
}

/// good_config() with the value at `pointer` set to `text`, as with `--set`.
inline input::Json changed(const std::string& pointer, const std::string& text) {
  return changed(good_config(), pointer, text);
}

/// Does everything that precedes a run.
inline plan::Plan plan_of(const input::Json& json) {
  return plan::make_plan(config::read_config(json));
}

/// Runs a configuration like one of many in a test: with the direct engine, unless the
/// configuration names another.
inline run::ExperimentResult run(const input::Json& json) {
  return run::run_experiment(plan::make_plan(config::read_config(json), plan::RunProfile::batch),
                             [](const std::string&) {});
}

/// The hardware file of TPU v5e.
inline input::Json tpu_v5e() {
  return input::parse_json(
      std::ranges::find(input::embedded_hardware(), "tpu-v5e", &input::EmbeddedFile::name)->text);
}

/// A file that is deleted at the end of the test.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& content) {
    static int count = 0;
    path_ = std::filesystem::temp_directory_path() /
            ("equarx-test-" + std::to_string(getpid()) + '-' + std::to_string(count++) + ".json");
    std::ofstream(path_, std::ios::binary) << content;
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { std::filesystem::remove(path_); }

  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace equarx::testing
