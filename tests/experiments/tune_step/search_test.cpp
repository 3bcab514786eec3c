#include "experiments/tune_step/search.hpp"

#include <algorithm>
#include <array>

#include "base/input/errors.hpp"
#include "tests/catch.hpp"

namespace equarx::tune_step::search_test {
namespace {

/// Three groups that each shorten a step of 1 s; the third lengthens it once the second is changed.
double made_up(const Choice& choice) {
  constexpr std::array kFirst = {0.0, 0.10, 0.20};
  constexpr std::array kSecond = {0.0, 0.05};
  constexpr std::array kThird = {0.0, 0.04};
  double time_s = 1.0 - kFirst[choice[0]] - kSecond[choice[1]];
  time_s += (choice[1] == 1 ? 1.0 : -1.0) * kThird[choice[2]];
  return time_s;
}

double no_estimate(const Choice&) { return 0.0; }

/// Trials whose plans are times already.
template <typename Time>
Trials trials_of(Time time_s, const Choice& baseline, unsigned threads = 1) {
  return Trials(
      [time_s](const Choice& choice) { return [made_s = time_s(choice)] { return made_s; }; },
      no_estimate, baseline, time_s(baseline), threads);
}

const Allowed kAll{{3, 2, 2}, {true, true, true}};
const Choice kBaseline = {0, 0, 0};

bool never() { return false; }

TEST_CASE("coordinate descent finds the optimum with fewer simulations than exhaustive search") {
  Trials few = trials_of(made_up, kBaseline);
  CHECK(improve(kAll, few, never) == Choice{2, 1, 0});
  Trials all = trials_of(made_up, kBaseline);
  CHECK(best_of_all(kAll, all, never) == Choice{2, 1, 0});
  CHECK(all.simulated() == 12);
  CHECK(few.simulated() < all.simulated());
}

TEST_CASE("the number of threads changes neither the optimum nor the simulations") {
  Trials one = trials_of(made_up, kBaseline);
  Trials four = trials_of(made_up, kBaseline, 4);
  CHECK(improve(kAll, four, never) == improve(kAll, one, never));
  CHECK(four.simulated() == one.simulated());
}

TEST_CASE("choices whose least cost is too high are not simulated") {
  const auto plan = [](const Choice& choice) {
    return [made_s = made_up(choice)] { return made_s; };
  };
  const auto estimate = [](const Choice& choice) { return choice[0] == 1 ? 1.0 : made_up(choice); };
  Trials few(plan, estimate, kBaseline, made_up(kBaseline));
  CHECK(improve(kAll, few, never) == Choice{2, 1, 0});
  CHECK_FALSE(few.knows({1, 0, 0}));
  CHECK(few.knows({2, 0, 0}));
  CHECK(few.least_cost_s({1, 0, 0}) == Approx(1.0 + kLeastGain));
  CHECK(few.least_cost_s({2, 0, 0}) == few.cost_s({2, 0, 0}));
}

TEST_CASE("choices that save too little in isolation are not simulated") {
  const auto plan = [](const Choice& choice) {
    return [made_s = made_up(choice)] { return made_s; };
  };
  const auto saving = [](const Choice& from, const Choice& to) {
    return from[0] == to[0] ? 1.0 : 0.5 * kLeastGain;
  };
  Trials few(plan, no_estimate, kBaseline, made_up(kBaseline), 1, saving);
  CHECK(improve(kAll, few, never) == Choice{0, 1, 0});
  CHECK_FALSE(few.knows({1, 0, 0}));
  CHECK(few.knows({0, 1, 0}));
  CHECK(few.least_cost_s({1, 0, 0}, kBaseline) == Approx(1.0 + 0.5 * kLeastGain));
  CHECK(few.least_cost_s({1, 0, 0}) < 0.1);
}

TEST_CASE("a stop ends a prefetch before its next simulation") {
  Trials trials = trials_of(made_up, kBaseline, 2);
  int asked = 0;
  trials.prefetch({{1, 0, 0}, {2, 0, 0}, {0, 1, 0}, {0, 0, 1}}, [&] { return ++asked > 1; });
  CHECK(trials.simulated() == 2);
}

TEST_CASE("a change below the minimum gain is not made") {
  const auto hardly = [](const Choice& choice) {
    return 1.0 - (choice[0] == 1 ? 0.5 * kLeastGain : 0.0) -
           (choice[1] == 1 ? 2.0 * kLeastGain : 0.0);
  };
  const Allowed allowed{{2, 2}, {true, true}};
  Trials trials = trials_of(hardly, {0, 0});
  CHECK(improve(allowed, trials, never) == Choice{0, 1});
  CHECK(best_of_all(allowed, trials, never) == Choice{0, 1});
}

TEST_CASE("a baseline outside the limits is not chosen, whatever its cost") {
  const Allowed without_baseline{{2}, {false}};
  Trials trials = trials_of([](const Choice& choice) { return choice[0] == 0 ? 1.0 : 3.0; }, {0});
  CHECK(improve(without_baseline, trials, never) == Choice{1});
  CHECK(best_of_all(without_baseline, trials, never) == Choice{1});
}

TEST_CASE("an infeasible choice is not chosen, and its message is kept") {
  const auto refuses = [](const Choice& choice) {
    if (choice[0] == 1) throw input::InputError("/variants", "too large");
    return made_up(choice);
  };
  Trials trials = trials_of(refuses, kBaseline);
  CHECK(improve(kAll, trials, never) == Choice{2, 1, 0});
  CHECK_THAT(trials.obstacle(), ContainsSubstring("too large"));
  CHECK_FALSE(trials.time_s({1, 0, 0}).has_value());
  CHECK_FALSE(trials.known_time_s({1, 0, 0}).has_value());
  CHECK_THROWS_AS(trials_of(refuses, Choice{1, 0, 0}), input::InputError);
}

TEST_CASE("a stopped search returns the best choice so far") {
  Trials trials = trials_of(made_up, kBaseline);
  int left = 3;
  const Choice best = improve(kAll, trials, [&] { return left-- == 0; });
  CHECK(best == Choice{2, 0, 0});
  CHECK(trials.simulated() == 4);
}

TEST_CASE("the path to the best changes one group per step, lowest cost first") {
  Trials trials = trials_of(made_up, kBaseline);
  const std::vector<Choice> path = path_to({2, 1, 0}, trials);
  CHECK(path == std::vector<Choice>{{0, 0, 0}, {2, 0, 0}, {2, 1, 0}});
  CHECK(path_to(kBaseline, trials) == std::vector<Choice>{kBaseline});
}

}  // namespace
}  // namespace equarx::tune_step::search_test
