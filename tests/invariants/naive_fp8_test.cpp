// An AllReduce of a tensor that is cast to FP8 first: the "naive FP8" baseline of EQuARX.
#include <string>

#include "base/input/json.hpp"
#include "experiments/config/json.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"

namespace equarx::invariants::naive_fp8_test {
namespace {

input::Json on_slice(const std::string& slice) {
  return input::parse_json(R"({
    "hardware": "tpu-v5e", "topology": {"slice": ")" +
                           slice + R"("},
    "tensor": {"shape": [2097152]},
    "collectives": [
      {"label": "bf16", "algorithm": "ring", "format": "bf16"},
      {"label": "e5m2", "algorithm": "ring", "cast_to": "fp8-e5m2", "casts": "separate"},
      {"label": "e4m3", "algorithm": "ring", "cast_to": "fp8-e4m3"},
      {"label": "wire", "algorithm": "ring", "format": "fp8-e5m2-cast"}]})");
}

TEST_CASE("naive FP8 E5M2 has the reported error") {
  const run::ExperimentResult result = testing::run(on_slice("4x2"));
  const auto mse = [&](std::size_t i) { return result.runs[i].numerics->against_baseline->mse; };
  // 0.13 on 4x2 of N(0,1) against the BF16 AllReduce (third-party summary of arXiv 2506.17615).
  CHECK(mse(1) == Approx(0.13).epsilon(0.15));
  // Casting the inputs adds an error that a plain FP8 wire does not have, and E4M3 has one bit
  // more.
  CHECK(mse(1) > 1.2 * mse(3));
  CHECK(mse(2) < mse(1) / 3.0);
}

TEST_CASE(
    "separate casts take the time to read and write the tensor twice, in addition to FP8's "
    "AllReduce") {
  input::Json json = on_slice("4x2");
  const run::ExperimentResult cast = testing::run(json);
  json["tensor"]["dtype"] = "fp8-e5m2";
  json["collectives"] = {{{"algorithm", "ring"}}};
  json["numerics"] = "off";
  const run::ExperimentResult fp8 = testing::run(json);
  const double casts_s = 2.0 * 3.0 * 2097152 / config::read_config(json).chip.hbm_rate();
  const double took_s = cast.runs[1].time_s - fp8.runs[0].time_s;
  CHECK(took_s > casts_s);
  CHECK(took_s < 1.25 * casts_s);  // 256 instructions
  CHECK(cast.runs[1].wire_bytes_per_link == cast.runs[0].wire_bytes_per_link / 2);
}

TEST_CASE("naive FP8 with fused casts is as fast as an FP8 tensor, and as the paper reports") {
  input::Json json = input::parse_json(
      input::read_file(EQUARX_SOURCE_DIR "/experiments/studies/equarx_paper/formats.json"));
  json["numerics"] = "off";
  const run::ExperimentResult cast = testing::run(json);
  CHECK(cast.runs[5].label == "naive fp8-e5m2");
  // 1.9x on 4x2 (third-party summary of arXiv 2506.17615).
  CHECK(*cast.runs[5].speedup == Approx(1.9).epsilon(0.05));
  json["tensor"]["dtype"] = "fp8-e5m2";
  json["collectives"] = {{{"algorithm", "ring"}}};
  json.erase("baseline");
  const run::ExperimentResult fp8 = testing::run(json);
  CHECK(cast.runs[5].time_s == Approx(fp8.runs[0].time_s).epsilon(1e-9));
}

TEST_CASE("SimGrid and the direct engine time casts alike") {
  input::Json json = on_slice("2x2");
  json["numerics"] = "off";
  json["tensor"]["shape"] = {65536};
  json["engine"] = "simgrid";
  const run::ExperimentResult simgrid = testing::run(json);
  json["engine"] = "direct";
  const run::ExperimentResult direct = testing::run(json);
  for (std::size_t i = 0; i < simgrid.runs.size(); ++i)
    CHECK(direct.runs[i].time_s == Approx(simgrid.runs[i].time_s).epsilon(1e-9));
}

}  // namespace
}  // namespace equarx::invariants::naive_fp8_test
