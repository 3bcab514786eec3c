#include "experiments/tune_step/ways.hpp"

#include <cmath>

#include "experiments/input/errors.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/tune_step/tuned_step.hpp"
#include "tests/support/errors.hpp"

namespace equarx::tune_step::ways_test {
namespace {

constexpr double kNmse = 1e-3;  // 30 dB

tune::TuneOptions within(double nmse, std::vector<std::string> formats) {
  tune::TuneOptions options = with_formats(std::move(formats));
  options.limits.max_nmse = nmse;
  options.limits.error_option = "--max-nmse";
  return options;
}

Ways ways_of(const input::Json& json, const std::string& name, const tune::TuneOptions& options) {
  const config::StepConfig config = config::read_step_config(json);
  step::Planner planner(config);
  for (const CollectiveGroup& group : collective_groups(config))
    if (group.name == name)
      return find_ways(config, group, options, planner, [](const std::string&) {});
  FAIL("no such group");
  return {};
}

TEST_CASE("ways are accurate enough, and none beats another in time and in core time") {
  const Ways found = ways_of(exposed_step(), "bucket", within(kNmse, {"int8", "int4", "bf16"}));
  REQUIRE(found.ways.size() > 2);
  CHECK(found.baseline_within);
  CHECK(found.fixed.empty());
  CHECK(found.ways.front().label == "as it is");
  for (std::size_t i = 0; i < found.ways.size(); ++i) {
    const Way& way = found.ways[i];
    CAPTURE(way.label);
    CHECK(way.nmse <= kNmse);
    CHECK(way.nmse > 0.0);
    CHECK(way.collectives.size() == 1);
    CHECK(way.alone_s > 0.0);
    CHECK(way.core_s > 0.0);
    CHECK(way.collectives.front().format.name != "int4");
    for (std::size_t other = 1; other < found.ways.size(); ++other)
      if (other != i)
        CHECK_FALSE(
            (way.alone_s <= found.ways[other].alone_s && way.core_s <= found.ways[other].core_s));
  }
}

TEST_CASE("times are those of all tasks of the group, in every collective of it") {
  input::Json twice = exposed_step();
  twice["step"]["tasks"][3]["repeat"] = 8;
  twice["step"]["tasks"][2]["repeat"] = 8;
  const tune::TuneOptions options = within(kNmse, {"int8"});
  const Way once_way = ways_of(exposed_step(), "bucket", options).ways.front();
  const Way twice_way = ways_of(twice, "bucket", options).ways.front();
  CHECK(twice_way.alone_s == Approx(2.0 * once_way.alone_s));
  CHECK(twice_way.core_s == Approx(2.0 * once_way.core_s));
  CHECK(twice_way.nmse == once_way.nmse);

  input::Json two_sizes = exposed_step();
  two_sizes["step"]["tasks"].push_back(
      {{"name", "small"},
       {"group", "bucket"},
       {"collective", {{"kind", "all-reduce"}, {"axes", {"data"}}, {"bytes", "1 MiB"}}}});
  const Ways both = ways_of(two_sizes, "bucket", options);
  CHECK(both.ways.front().collectives.size() == 2);
  CHECK(both.ways.front().alone_s > once_way.alone_s);
  CHECK(both.ways.front().alone_s < twice_way.alone_s);
}

TEST_CASE("what is not summed stays as it is") {
  input::Json moved = exposed_step();
  moved["step"]["tasks"][3]["collective"]["kind"] = "all-to-all";
  const Ways found = ways_of(moved, "bucket", within(kNmse, {"int8"}));
  CHECK(found.ways.size() == 1);
  CHECK_THAT(found.fixed, ContainsSubstring("not quantized"));
}

TEST_CASE("a baseline that is not accurate enough is not a way to choose") {
  input::Json coarse = exposed_step();
  coarse["variants"] =
      input::Json::parse(R"([{"label": "int4", "quantize": [{"format": "int4"}]}])");
  const Ways found = ways_of(coarse, "bucket", within(kNmse, {"int8", "bf16"}));
  CHECK_FALSE(found.baseline_within);
  CHECK(found.ways.front().nmse > kNmse);
  CHECK(found.ways.size() > 1);
  testing::check_refused([&] { ways_of(coarse, "bucket", within(kNmse, {"int4"})); }, "--max-nmse",
                         "no way to carry out 'bucket'");
}

}  // namespace
}  // namespace equarx::tune_step::ways_test
