#include "models/serving/replica.hpp"

#include <deque>

#include "tests/catch.hpp"
#include "tests/models/serving/served.hpp"

namespace equarx::serving::replica_test {
namespace {

using testing::constant;
using testing::served;

void ignore(Sequence&) {}

/// A replica, with sequences and steps of one second.
class Bench {
 public:
  explicit Bench(Limits limits, double positions = testing::kRoomy)
      : served_(served(constant(1.0), positions)), replica_(served_, limits, 0.0) {}

  Sequence& add(std::uint64_t prompt, std::uint64_t output) {
    Sequence& sequence = sequences_.emplace_back();
    sequence.prompt = prompt;
    sequence.output = output;
    replica_.enqueue(sequence, now_s);
    return sequence;
  }

  /// Prompt tokens and tokens decoded in the next step.
  std::pair<std::uint64_t, std::uint64_t> step() {
    const std::optional<Step> step = replica_.start_step(now_s);
    if (!step) return {0, 0};
    now_s += 1.0;
    replica_.end_step(now_s, ignore);
    return {step->prompt_tokens, step->decode_tokens};
  }

  Replica& replica() { return replica_; }
  double now_s = 0.0;

 private:
  Served served_;
  std::deque<Sequence> sequences_;
  Replica replica_;
};

using Tokens = std::pair<std::uint64_t, std::uint64_t>;

double spent(const Sequence& sequence, State state) {
  return sequence.spent_s[static_cast<std::size_t>(state)];
}

TEST_CASE("chunks of prompts fill the steps that decoding leaves") {
  Bench bench({.tokens = 8});
  bench.add(5, 4);
  bench.add(12, 2);
  CHECK(bench.step() == Tokens(8, 0));  // 5, and 3 of 12
  CHECK(bench.step() == Tokens(7, 1));
  CHECK(bench.step() == Tokens(2, 1));
  CHECK(bench.step() == Tokens(0, 2));
  CHECK(bench.step() == Tokens(0, 0));
  CHECK(bench.replica().space().used_bytes() == 0.0);
}

TEST_CASE("whole prompts come first, in steps of their own") {
  Bench bench({.tokens = 8, .policy = Policy::prompts_first});
  bench.add(5, 3);
  CHECK(bench.step() == Tokens(5, 0));
  bench.add(6, 2);
  bench.add(3, 2);
  CHECK(bench.step() == Tokens(6, 0));  // 3 more are too many
  CHECK(bench.step() == Tokens(3, 0));
  CHECK(bench.step() == Tokens(0, 3));
  CHECK(bench.step() == Tokens(0, 1));
}

TEST_CASE("a prompt longer than a step is a step of its own without chunks") {
  Bench bench({.tokens = 8, .policy = Policy::prompts_first});
  bench.add(20, 1);
  CHECK(bench.step() == Tokens(20, 0));
}

TEST_CASE("only so many sequences run, and waiting is attributed to its cause") {
  Bench bench({.sequences = 1, .tokens = 100});
  bench.add(10, 3);
  Sequence& second = bench.add(10, 1);
  for (int i = 0; i < 3; ++i) bench.step();
  CHECK(second.generated == 0);
  bench.step();
  CHECK(second.generated == 1);
  CHECK(spent(second, State::waits_for_sequences) == 3.0);
  CHECK(spent(second, State::prefills) == 1.0);
}

TEST_CASE("the cache grows with the tokens, and the last sequence is preempted if it is full") {
  Bench bench({.tokens = 100}, 25.0);
  Sequence& first = bench.add(10, 5);
  Sequence& second = bench.add(10, 5);
  CHECK(bench.step() == Tokens(20, 0));
  CHECK(bench.step() == Tokens(0, 2));  // 22 positions
  CHECK(bench.step() == Tokens(0, 2));  // 24
  CHECK(bench.step() == Tokens(0, 1));  // 13 and 13 are too many
  CHECK(second.preemptions == 1);
  CHECK(second.generated == 3);
  CHECK(bench.step() == Tokens(0, 1));  // the first ends
  CHECK(first.generated == 5);
  CHECK(bench.step() == Tokens(13, 0));  // prompt and tokens again
  CHECK(second.generated == 4);
  CHECK(spent(second, State::preempted) == 2.0);
  CHECK(bench.step() == Tokens(0, 1));
  CHECK(bench.replica().space().used_bytes() == 0.0);
  CHECK(bench.replica().running() + bench.replica().waiting() == 0);
}

TEST_CASE("sequences wait for memory, and join in the order of arrival") {
  Bench bench({.tokens = 100}, 20.0);
  bench.add(10, 2);
  Sequence& large = bench.add(15, 1);
  Sequence& small = bench.add(3, 1);
  CHECK(bench.step() == Tokens(10, 0));
  CHECK(bench.step() == Tokens(0, 1));
  CHECK(small.generated == 0);
  CHECK(bench.step() == Tokens(18, 0));
  CHECK(spent(large, State::waits_for_memory) == 2.0);
  CHECK(spent(small, State::waits_for_memory) == 2.0);
}

TEST_CASE("a cached prefix is not computed") {
  Bench bench({.tokens = 100});
  Sequence& sequence = bench.add(10, 2);
  sequence.prefix = 8;
  CHECK(bench.step() == Tokens(2, 0));
  CHECK(bench.step() == Tokens(0, 1));
}

TEST_CASE("a running step blocks the next, and an idle replica has none") {
  Bench bench({});
  CHECK(bench.step() == Tokens(0, 0));
  bench.add(4, 1);
  REQUIRE(bench.replica().start_step(0.0).has_value());
  CHECK(bench.replica().is_running_step());
  CHECK_FALSE(bench.replica().start_step(0.5).has_value());
}

}  // namespace
}  // namespace equarx::serving::replica_test
