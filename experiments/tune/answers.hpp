// Answers to numbered questions, each found once.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "experiments/process/helpers.hpp"

namespace equarx::tune {

/// Each answer is found by whoever begins first: the thread that asks, or a helper ahead of it. It is the same
/// whoever finds it, and on however many threads.
template <class Answer>
class Answers {
 public:
  /// Finds the answer to a question; thread-safe.
  using Find = std::function<Answer(std::size_t)>;

  Answers(std::size_t questions, Find find, process::Helpers& helpers)
      : find_(std::move(find)), helpers_(helpers), states_(questions), answers_(questions) {}

  bool knows(std::size_t question) const {
    return states_[question].load(std::memory_order_acquire) == State::found;
  }
  /// An answer that is known.
  const Answer& known(std::size_t question) const { return *answers_[question]; }

  /// The answer, found now if nobody has. While a helper finds it, this thread helps. For the thread that may call
  /// Helpers::work_until(). @throws what finding it throws
  const Answer& ask(std::size_t question) {
    while (!knows(question)) {
      if (begin(question))
        find(question);
      else
        helpers_.work_until([&] { return states_[question].load() != State::under_way; });
    }
    return known(question);
  }

  /// For helpers: finds the answer if nobody has begun to. What that throws, ask() will throw once it is asked.
  void prepare(std::size_t question) {
    if (!begin(question)) return;
    try {
      find(question);
    } catch (...) {  // found again, and thrown, by ask()
    }
  }

 private:
  enum class State : std::uint8_t { open, under_way, found };

  bool begin(std::size_t question) {
    State open = State::open;
    return states_[question].compare_exchange_strong(open, State::under_way);
  }

  void find(std::size_t question) {
    try {
      answers_[question] = find_(question);
    } catch (...) {
      end(question, State::open);
      throw;
    }
    end(question, State::found);
  }

  void end(std::size_t question, State state) {
    states_[question].store(state, std::memory_order_release);
    helpers_.tell();
  }

  Find find_;
  process::Helpers& helpers_;
  std::vector<std::atomic<State>> states_;
  std::vector<std::optional<Answer>> answers_;
};

}  // namespace equarx::tune
