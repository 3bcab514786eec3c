#include "experiments/vectors/manifest.hpp"

#include "tests/catch.hpp"
#include "tests/support/configs.hpp"

namespace equarx::vectors::manifest_test {
namespace {

using input::Json;

Vectors made(const Json& collectives) {
  const Json config = {{"hardware", "h100"},
                       {"topology", {{"switch", 4}}},
                       {"tensor", {{"shape", {4096}}, {"dtype", "bf16"}}},
                       {"collectives", collectives}};
  return make_vectors(config::read_config(config), select_cases({"ties"}),
                      [](const std::string&) {});
}

}  // namespace

TEST_CASE("folders have the names of labels, each its own") {
  const Vectors vectors = made(Json::parse(R"([{"algorithm": "ring", "label": "NCCL ring"},
    {"algorithm": "ring", "label": "nccl: Ring"}, {"algorithm": "ring", "label": "+"}])"));
  CHECK(folder_names(vectors) ==
        std::vector<std::string>{"nccl-ring", "nccl-ring-2", "collective"});
}

TEST_CASE("the manifest describes contracts and tensors") {
  const Json manifest = manifest_of(made(
      Json::parse(R"([{"algorithm": "one-shot"}, {"algorithm": "two-shot", "format": "int8"}])")));
  CHECK(manifest["complete"] == true);
  CHECK(manifest["ranks"] == 4);
  CHECK(manifest["dtype"] == "bf16");
  CHECK(manifest["files"].size() == 2);
  const Json& once = manifest["collectives"][0];
  CHECK(once["contract"]["accumulate"] == "fp32");
  CHECK(once["contract"]["roundings"] == "1 x bf16");
  CHECK(once["contract"]["ranks_identical"] == true);
  CHECK(once["contract"]["deterministic"] == true);
  CHECK(once["cases"][0]["shape"] == Json::array({256}));
  const Json& tensors = once["cases"][0]["tensors"];
  CHECK(tensors[0]["name"] == "input.rank0");
  CHECK(tensors[5] ==
        Json::parse(R"({"name": "sum.rank0.0001", "kind": "sum", "ranks": [0, 1, 2, 3],
    "instruction": )" +
                    tensors[5]["instruction"].dump() + R"(, "operation": )" +
                    tensors[5]["operation"].dump() + R"(, "phase": )" + tensors[5]["phase"].dump() +
                    R"(, "elements": [[0, 256]], "terms": [0, 1]})"));
  CHECK(tensors.back()["name"] == "rounded_once");
  bool has_scales = false;
  for (const Json& tensor : manifest["collectives"][1]["cases"][0]["tensors"])
    if (tensor["kind"] == "scales") {
      has_scales = true;
      CHECK(tensor["minishard"].size() == 2);
    }
  CHECK(has_scales);
}

TEST_CASE("owners that keep their sums have ranks that differ") {
  const Json manifest = manifest_of(made(Json::parse(
      R"([{"algorithm": "two-shot", "format": "int8", "layout": "contiguous", "block": 32,
           "arithmetic": {"owner": "summed"}}])")));
  CHECK(manifest["collectives"][0]["contract"]["ranks_identical"] == false);
  CHECK(manifest["collectives"][0]["contract"]["owner"] == "summed");
}

}  // namespace equarx::vectors::manifest_test
