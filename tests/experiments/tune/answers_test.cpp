#include "experiments/tune/answers.hpp"

#include <future>
#include <stdexcept>
#include <string>

#include "tests/catch.hpp"

namespace equarx::tune::answers_test {
namespace {

TEST_CASE("every answer is found once, whether it is asked for or prepared") {
  constexpr std::size_t kQuestions = 200;
  for (const unsigned threads : {0U, 1U, 3U}) {
    process::Helpers helpers(threads);
    std::vector<std::atomic<int>> found(kQuestions);
    Answers<std::size_t> answers(
        kQuestions,
        [&](std::size_t question) {
          ++found[question];
          return 2 * question;
        },
        helpers);
    std::vector<process::Helpers::Work> work;
    for (std::size_t question = 0; question < kQuestions; ++question)
      work.emplace_back([&answers, question] { answers.prepare(question); });
    helpers.propose(std::move(work));
    for (std::size_t question = kQuestions; question-- > 0;) {
      CHECK(answers.ask(question) == 2 * question);
      CHECK(answers.knows(question));
      CHECK(answers.known(question) == 2 * question);
    }
    for (const std::atomic<int>& times : found) CHECK(times == 1);
    helpers.propose({});
  }
}

TEST_CASE("an answer that a helper is about to find is waited for") {
  std::promise<void> begun;
  process::Helpers helpers(1);
  Answers<int> answers(
      1,
      [&](std::size_t) {
        begun.set_value();  // a second call would throw
        return 7;
      },
      helpers);
  helpers.propose({[&] { answers.prepare(0); }});
  begun.get_future().wait();
  CHECK(answers.ask(0) == 7);
}

TEST_CASE("what goes wrong ahead of time is thrown when somebody asks") {
  process::Helpers helpers(0);
  Answers<int> answers(
      2,
      [](std::size_t question) -> int {
        if (question == 1) throw std::runtime_error("one");
        return 0;
      },
      helpers);
  answers.prepare(0);
  answers.prepare(1);
  CHECK(answers.knows(0));
  CHECK_FALSE(answers.knows(1));
  CHECK_THROWS_WITH(answers.ask(1), "one");
  CHECK_THROWS_WITH(answers.ask(1), "one");
}

}  // namespace
}  // namespace equarx::tune::answers_test
