// Base workloads for tests.
#pragma once

#include <string>

#include "base/input/json.hpp"
#include "tests/support/changed.hpp"
#include "tests/support/configs.hpp"

namespace equarx::testing {

/// Small enough to simulate the whole phase on every chip: seven layers, two local per global one.
inline input::Json tiny_model() {
  return input::parse_json(R"({
    "name": "tiny", "description": "for tests", "source": "made up",
    "layers": 7, "d_model": 512, "heads": 8, "kv_heads": 4, "head_size": 64, "ffn": 1024,
    "gated_ffn": true, "activation": "gelu", "vocabulary": 1000, "tied_embeddings": true,
    "local_attention": { "layers_per_global": 2, "window": 64 }, "largest_context": 4096,
    "post_norms": true, "qk_norms": true, "weights": "bf16"
  })");
}

/// A prefill of the model in a file, on a 2x2 slice, without numerics.
inline input::Json workload_config(const std::string& model, std::uint64_t tokens = 256) {
  input::Json json = good_config();
  json.erase("tensor");
  json.erase("timed_as");
  json["topology"] = {{"slice", "2x2"}};
  json["workload"] = {{"model", model}, {"phase", "prefill"}, {"tokens", tokens}};
  json["collectives"][1].erase("minishards");
  json["collectives"][1].erase("microshards");
  json["numerics"] = "off";
  return json;
}

}  // namespace equarx::testing
