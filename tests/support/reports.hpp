// Results of a sweep in the format of `equarx-sim sweep`, with any number of rows, without
// simulation.
#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/input/json.hpp"
#include "base/input/object_reader.hpp"

namespace equarx::testing {

using input::Json;

/// A configuration with all defaults filled in, about as long as real ones.
inline input::Json synthetic_config(const std::string& bytes, const std::string& slice,
                                    int microshards) {
  input::Json config = input::Json::parse(R"({
    "hardware": "tpu-v5e", "topology": {"slice": "4x2"},
    "tensor": {"bytes": "1 MiB", "dtype": "bf16",
               "values": {"distribution": "normal", "seed": 1, "ranks": "independent"}, "sample": 1.0},
    "collectives": [
      {"label": "bf16", "algorithm": "ring", "ring": "full-loop", "format": "bf16",
       "rounding": "nearest", "minishards": 1, "microshards": 8},
      {"label": "full-loop int8", "algorithm": "equarx", "ring": "full-loop", "quantize": "both",
       "format": "int8", "scale": "fp32", "layout": "strided", "rounding": "nearest", "minishards": 8,
       "microshards": 8}],
    "baseline": "bf16", "numerics": "on", "simulation": "auto"})");
  config["tensor"]["bytes"] = bytes;
  config["topology"]["slice"] = slice;
  config["collectives"][1]["microshards"] = microshards;
  return config;
}

/// A run with numbers of realistic form, but not of realistic value.
inline input::Json synthetic_run(bool quantized, double bytes, int chips, int microshards) {
  const double steps = 2.0 * (chips - 1);
  const double wire = bytes * steps / (2 * chips) * (quantized ? 0.515 : 1.0);
  const double bound = wire / 43.6e9;
  const double overhead = steps * (quantized ? 1.2e-6 + 0.05e-6 * microshards : 0.5e-6);
  const double bubbles = quantized ? bound * 0.2 / microshards : bound * 0.001;
  const double startup = 5e-6;
  const double time = bound + overhead + startup + bubbles;
  const double full = bytes * steps / (2 * chips) / 43.6e9 * 1.001 + steps * 0.5e-6 + startup;
  const double nmse = quantized ? 1.9e-4 * (chips + 1) / 9 : 1.35e-5;
  return {{"label", quantized ? "full-loop int8" : "bf16"},
          {"algorithm", quantized ? "equarx" : "ring"},
          {"time_s", time},
          {"speedup", quantized ? full / time : 1.0},
          {"lower_bound_s", bound},
          {"wire_bytes_per_link", static_cast<std::int64_t>(wire)},
          {"chips", chips},
          {"simulation", "full"},
          {"core_busy_s", 0.6 * time},
          {"breakdown",
           {{"payload_s", 0.97 * bound},
            {"scales_s", 0.03 * bound},
            {"sync_s", overhead},
            {"startup_s", startup},
            {"idle_s", bubbles}}},
          {"numerics",
           {{"mse", 8 * nmse},
            {"nmse", nmse},
            {"sqnr_db", -10 * std::log10(nmse)},
            {"max_abs_error", 0.2 + nmse * 20},
            {"mean_signed_error", nmse / 1e3},
            {"cosine_similarity", 1 - nmse / 2},
            {"mse_vs_baseline", 8.4 * nmse},
            {"nmse_vs_baseline", 1.05 * nmse},
            {"clipped_fraction", 0.0},
            {"flushed_fraction", nmse * 46.5},
            {"ranks_identical", true},
            {"elements", static_cast<std::int64_t>(bytes / 2)},
            {"sampled_fraction", 1.0}}}};
}

/// JSON Lines: one point per size, slice and number of microshards, with two runs each, up to
/// `rows` rows (an even number). All configurations differ.
inline std::string synthetic_sweep(std::size_t rows) {
  struct Slice {
    const char* name;
    int chips;
  };
  const std::vector<Slice> slices = {{"2x2", 4}, {"4x2", 8}, {"4x4", 16}, {"8x8", 64}};
  const std::vector<std::string> sizes = {"4 KiB", "16 KiB", "64 KiB", "256 KiB", "1 MiB",
                                          "4 MiB", "16 MiB", "64 MiB", "256 MiB", "1 GiB"};
  constexpr double kSmallest = 4096;  // bytes
  constexpr double kRatio = 4;        // of each size to the previous one
  std::string text;
  for (std::size_t point = 0; 2 * point < rows; ++point) {
    const Slice& slice = slices[point / sizes.size() % slices.size()];
    const std::string& size = sizes[point % sizes.size()];
    const double bytes = kSmallest * std::pow(kRatio, static_cast<double>(point % sizes.size()));
    const int microshards = 1 + static_cast<int>(point / (sizes.size() * slices.size()));
    input::Json line = {{"point", point},
                        {"key", fmt::format("{:016x}", 0x9e3779b97f4a7c15U * (point + 1))},
                        {"version", "0.1.0"},
                        {"axes",
                         {{"/tensor/bytes", size},
                          {"/topology/slice", slice.name},
                          {"/collectives/1/microshards", microshards}}}};
    const input::Json config = synthetic_config(size, slice.name, microshards);
    for (const bool quantized : {false, true}) {
      line["run"] = synthetic_run(quantized, bytes, slice.chips, microshards);
      line["config"] = config;
      text += line.dump() + "\n";
    }
  }
  return text;
}

/// The result of a step with two variants, as from `run --json`: one bucket overlapped with a
/// computation and one after it.
inline input::Json synthetic_step() {
  input::Json json = {{"program", "equarx-sim"},
                      {"version", "0.2.0"},
                      {"config_hash", "00000000000000bb"},
                      {"config", input::Json::parse(R"({
    "hardware": "tpu-v5e", "topology": {"slice": "2x2"}, "mesh": {"data": 4},
    "step": {"tasks": []}, "variants": [{"label": "bf16"}, {"label": "int8"}], "baseline": "bf16"})")}};
  for (const double end_s : {4e-3, 3e-3}) {
    const bool plain = end_s > 3.5e-3;
    input::Json groups = input::Json::array();
    groups.push_back({{"group", "work"},
                      {"kind", "computation"},
                      {"tasks", 1},
                      {"isolated_s", 2e-3},
                      {"total_s", 2e-3},
                      {"exposed_s", 0.0},
                      {"critical_s", 2e-3}});
    groups.push_back({{"group", "a/b"},
                      {"kind", "collective"},
                      {"tasks", 1},
                      {"isolated_s", end_s - 1e-3},
                      {"total_s", end_s - 1e-3},
                      {"exposed_s", end_s - 2e-3},
                      {"critical_s", end_s - 2e-3}});
    input::Json tasks = input::Json::array();
    tasks.push_back({{"name", "work"},
                     {"group", "work"},
                     {"stream", "core"},
                     {"start_s", 0.0},
                     {"end_s", 2e-3}});
    tasks.push_back({{"name", "sum"},
                     {"group", "a/b"},
                     {"stream", "data & more"},
                     {"start_s", 1e-3},
                     {"end_s", end_s}});
    json["variants"].push_back({{"label", plain ? "bf16" : "int8"},
                                {"time_s", end_s},
                                {"speedup", 4e-3 / end_s},
                                {"lower_bound_s", 2e-3},
                                {"compute_s", 2e-3},
                                {"exposed_s", end_s - 2e-3},
                                {"calibrated", true},
                                {"groups", groups},
                                {"tasks", tasks},
                                {"critical_path", {"work", "sum"}}});
  }
  return json;
}

}  // namespace equarx::testing
