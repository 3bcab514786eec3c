#include "experiments/sweep/work.hpp"

#include "tests/support/steps.hpp"
#include "tests/support/sweeps.hpp"

namespace equarx::sweep::work_test {
namespace {

using namespace testing;

double work_of(const std::string& pointer, const std::string& text) {
  return estimate_work_s(changed(pointer, text));
}

TEST_CASE("work grows with elements, messages and samples") {
  const double one = work_of("/tensor/bytes", "4 MiB");
  CHECK(work_of("/tensor/bytes", "16 MiB") > 3.0 * one);
  CHECK(work_of("/numerics", "off") < work_of("/numerics", "on"));
  input::Json mesh = changed("/topology", R"({"mesh": "16x16"})");
  mesh["numerics"] = "off";
  mesh["collectives"] = {{{"algorithm", "two-shot"}}};
  mesh.erase("baseline");
  const double two_shot = estimate_work_s(mesh);
  mesh["collectives"][0]["algorithm"] = "torus";
  const double torus = estimate_work_s(mesh);
  CHECK(two_shot > 10.0 * torus);
  mesh["uncertainty"] = {{"samples", 200}};
  CHECK(estimate_work_s(mesh) > 10.0 * torus);
}

TEST_CASE("work of steps grows with their tasks") {
  const double few = estimate_work_s(good_step());
  input::Json many = good_step();
  for (const std::size_t task : {1U, 2U}) many["step"]["tasks"][task]["repeat"] = 4000;
  CHECK(estimate_work_s(many) > 2.0 * few);
}

TEST_CASE("points that cannot run take hardly any time") {
  const double least = estimate_work_s(input::Json::object());
  CHECK(least > 0.0);
  CHECK(work_of("/tensor/bytes", "64 GiB") == least);  // more than the HBM
  CHECK(work_of("/tensor/bytes", "potatoes") == least);
}

TEST_CASE("some points of a large sweep stand for their neighbours") {
  std::string seeds = "[0";
  for (int seed = 1; seed < 4500; ++seed) seeds += "," + std::to_string(seed);
  const SweepPoints points = points_of(R"([{"key": "/tensor/bytes", "values": ["64 KiB", "1 MiB"]},
                    {"key": "/tensor/values/seed", "values": )" +
                                       seeds + "]}]");
  const WorkEstimates work(points, points.in_shard({}));
  const double small = estimate_work_s(points.config(0));
  const double large = estimate_work_s(points.config(4500));
  CHECK(work.of(0) == small);
  CHECK(work.of(8999) == large);
  CHECK(work.total() == Approx(4500 * (small + large)).epsilon(0.01));
}

}  // namespace
}  // namespace equarx::sweep::work_test
