#include "experiments/run/choice.hpp"

#include "tests/catch.hpp"
#include "tests/support/configs.hpp"

namespace equarx::run::choice_test {
namespace {

const auto kSilent = [](const std::string&) {};

plan::PlannedCollective planned(const std::string& algorithm) {
  input::Json json = testing::good_config();
  json["collectives"] = {{{"algorithm", algorithm}, {"format", "bf16"}}};
  json.erase("baseline");
  return testing::plan_of(json).collectives.front();
}

sim::TimeResult simulate(const plan::CollectivePlan& plan) {
  return sim::simulate(plan.program, plan.simulated.machine(), plan.costs,
                       {.engine = sim::Engine::direct});
}

TEST_CASE("a named algorithm is taken without a simulation") {
  const plan::PlannedCollective one = planned("ring");
  const Choice choice = choose(
      one,
      [](const plan::CollectivePlan&) -> sim::TimeResult {
        throw std::logic_error("simulates the only candidate");
      },
      kSilent);
  CHECK(choice.plan == &one.candidates.front());
  CHECK_FALSE(choice.time.has_value());
  CHECK(choice.candidates.empty());
}

TEST_CASE("the fastest candidate is taken, and those that cannot win are not simulated") {
  const plan::PlannedCollective all = planned("auto");
  std::size_t simulated = 0;
  const Choice choice = choose(
      all,
      [&](const plan::CollectivePlan& plan) {
        ++simulated;
        return simulate(plan);
      },
      kSilent);
  REQUIRE(choice.time.has_value());
  for (const plan::CollectivePlan& candidate : all.candidates)
    CHECK(choice.time->time_s <= simulate(candidate).time_s);
  CHECK(choice.candidates.size() == all.candidates.size() + all.infeasible.size());
  CHECK(simulated < all.candidates.size());
}

TEST_CASE("a candidate that fails is taken only if all fail") {
  const plan::PlannedCollective all = planned("auto");
  const auto failing = [](sim::TimeResult time) {
    time.failure.emplace();
    return time;
  };
  const Choice none = choose(
      all, [&](const plan::CollectivePlan& plan) { return failing(simulate(plan)); }, kSilent);
  CHECK(none.plan == &all.candidates.front());
  CHECK(none.time->failure.has_value());
  const Choice other = choose(
      all,
      [&](const plan::CollectivePlan& plan) {
        return &plan == &all.candidates.front() ? failing(simulate(plan)) : simulate(plan);
      },
      kSilent);
  CHECK_FALSE(other.time->failure.has_value());
  CHECK(other.candidates.front().note == "fails: uses a link that goes down");
}

}  // namespace
}  // namespace equarx::run::choice_test
