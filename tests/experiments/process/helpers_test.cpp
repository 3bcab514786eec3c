#include "experiments/process/helpers.hpp"

#include <atomic>
#include <future>
#include <utility>
#include <vector>

#include "tests/catch.hpp"

namespace equarx::process::helpers_test {
namespace {

TEST_CASE("what is proposed is done once, with however many helpers") {
  constexpr int kWorks = 50;
  for (const unsigned threads : {0U, 1U, 3U}) {
    Helpers helpers(threads);
    CHECK(helpers.threads() == threads);
    std::vector<std::atomic<int>> calls(kWorks);
    std::atomic<int> done = 0;
    std::vector<Helpers::Work> work;
    for (std::atomic<int>& of_one : calls)
      work.emplace_back([&] {
        ++of_one;
        ++done;
        helpers.tell();
      });
    helpers.propose(std::move(work));
    helpers.work_until([&] { return done == kWorks; });
    for (const std::atomic<int>& of_one : calls) CHECK(of_one == 1);
  }
}

TEST_CASE("a proposal takes the place of the one before, and is done in its order") {
  Helpers helpers(0);
  std::vector<int> done;
  helpers.propose({[&] { done.push_back(0); }});
  helpers.propose({[&] { done.push_back(1); }, [&] { done.push_back(2); }});
  helpers.work_until([&] { return done.size() == 2; });
  CHECK(done == std::vector{1, 2});
}

TEST_CASE("who waits goes on as soon as it is told, while work goes on") {
  std::promise<void> let_go;
  std::atomic<bool> half_done = false;
  std::atomic<bool> all_done = false;
  {
    Helpers helpers(1);
    std::promise<void> begun;
    helpers.propose({[&] {
      begun.set_value();
      half_done = true;
      helpers.tell();
      let_go.get_future().wait();
      all_done = true;
    }});
    begun.get_future().wait();
    helpers.work_until([&] { return half_done.load(); });
    CHECK_FALSE(all_done);
    helpers.propose({[] { FAIL("was proposed to nobody"); }});
    helpers.propose({});
    let_go.set_value();
  }
  CHECK(all_done);  // whoever ends waits for what runs
}

}  // namespace
}  // namespace equarx::process::helpers_test
