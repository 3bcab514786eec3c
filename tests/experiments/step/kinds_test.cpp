#include "experiments/step/kinds.hpp"

#include <vector>

#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "experiments/config/step_json.hpp"
#include "experiments/step/run.hpp"
#include "experiments/step/timing.hpp"
#include "tests/catch.hpp"
#include "tests/support/steps.hpp"

namespace equarx::step::kinds_test {
namespace {

using testing::good_step;

/// A step with one rule, on a machine of eight chips that reach each other alike.
config::StepConfig config_with(const std::string& rule) {
  input::Json json = good_step();
  json["hardware"] = "h100";
  json["topology"] = {{"switch", 8}};
  json["mesh"] = {{"data", 8}};
  json["variants"] = input::Json::array({{{"label", "one"}, {"quantize", input::Json::array()}}});
  json["variants"][0]["quantize"].push_back(input::parse_json(rule));
  return config::read_step_config(json);
}

VariantResult run(const std::string& rule) {
  return run_step(make_plan(config_with(rule)), [](const std::string&) {}).runs.front();
}

TEST_CASE("a step whose collectives run in one of k steps takes the mean of both kinds") {
  const VariantResult always = run(R"({"algorithm": "two-shot"})");
  const VariantResult every = run(R"({"algorithm": "two-shot", "when": {"every": 5}})");
  CHECK(always.kinds.empty());
  REQUIRE(every.kinds.size() == 2);
  CHECK(every.kinds[0].time_s == always.time_s);
  CHECK(every.kinds[1].time_s < always.time_s);
  CHECK(every.time_s ==
        Approx(0.2 * every.kinds[0].time_s + 0.8 * every.kinds[1].time_s).epsilon(1e-12));
  CHECK(every.time_s >= every.lower_bound_s);
  CHECK(every.kinds[0].calls.empty());
  REQUIRE(every.kinds[1].calls.size() == 1);
  CHECK(every.kinds[1].calls[0].group == "bucket");
  CHECK_FALSE(every.kinds[1].calls[0].senders.has_value());
  const auto isolated_s = [](const VariantResult& variant) {
    return std::ranges::find(variant.groups, "bucket", &GroupResult::name)->isolated_s;
  };
  CHECK(isolated_s(every) == Approx(0.2 * isolated_s(always)));
  REQUIRE(every.expenses.energy.has_value());
  CHECK(every.expenses.energy->joules < always.expenses.energy->joules);
}

TEST_CASE("a step without its collectives takes as long as one that has none") {
  config::StepConfig config = config_with(R"({"when": {"every": 1000}})");
  const VariantResult every = run_step(make_plan(config), [](const std::string&) {}).runs[0];
  std::erase_if(config.graph.tasks, [](const steps::Task& task) { return task.group == "bucket"; });
  config.calls.clear();
  config.values.clear();
  config.variants = {{.label = "none", .rules = {}, .collectives = {}}};
  const VariantResult none = run_step(make_plan(config), [](const std::string&) {}).runs[0];
  CHECK(every.kinds.back().time_s == Approx(none.time_s).epsilon(1e-9));
}

TEST_CASE("the time of a server is linear in the chips that send") {
  std::vector<double> times;
  for (const std::string chips : {"0", "1", "2", "3", "4", "5", "6", "7"})
    times.push_back(
        run(R"({"microshards": 1, "minishards": 1, "when": {"uploads": [)" + chips + "]}}")
            .collectives.front()
            .run.time_s);
  const double each_s = (times[7] - times[1]) / 6.0;
  CHECK(each_s > 0.0);
  for (std::size_t chips = 1; chips < times.size(); ++chips)
    CHECK(times[chips] == Approx(times[1] + each_s * static_cast<double>(chips - 1)).epsilon(0.01));
  CHECK(times[0] < times[1]);
}

TEST_CASE("samples of a variant have its mean time") {
  for (const std::string rule : {R"({"when": {"every": 3}})", R"({"when": {"uploads": 0.3}})"}) {
    const StepPlan plan = make_plan(config_with(rule));
    const VariantResult whole = run_step(plan, [](const std::string&) {}).runs.front();
    const variation::Varied varied = varied_variants(plan, find_cuts(plan, 1), 1);
    CHECK(varied.time_on(varied.machine)[0].time_s == Approx(whole.time_s).epsilon(1e-9));
  }
}

}  // namespace
}  // namespace equarx::step::kinds_test
