#include "experiments/accuracy/question.hpp"

#include <set>

#include "tests/catch.hpp"

namespace equarx::accuracy::question_test {
namespace {

TEST_CASE("questions are listed by value and have unique names") {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kQuestions.size(); ++i) {
    CHECK(static_cast<std::size_t>(kQuestions.at(i)) == i);
    CHECK(names.insert(name(kQuestions.at(i))).second);
    CHECK_FALSE(description(kQuestions.at(i)).empty());
  }
}

}  // namespace
}  // namespace equarx::accuracy::question_test
