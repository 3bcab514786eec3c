#include "sim/engines/direct/inbox.hpp"

#include <random>

#include "tests/catch.hpp"

namespace equarx::sim::inbox_test {
namespace {

TEST_CASE("an inbox keeps transfers that its receiver or sender still needs") {
  std::mt19937_64 random(4);
  Inbox inbox;
  for (int step = 0; step < 10'000; ++step) {
    switch (random() % 3) {
      case 0: inbox.push({.left_s = static_cast<double>(inbox.sent())}); break;
      case 1:
        if (inbox.received() < inbox.sent()) inbox.receive();
        break;
      default:
        if (inbox.retired() < inbox.sent()) inbox.retire();
    }
    for (std::uint64_t number = std::min(inbox.received(), inbox.retired()); number < inbox.sent();
         ++number)
      REQUIRE(inbox.at(number).left_s == static_cast<double>(number));
  }
  CHECK(inbox.sent() > 3'000);
}

}  // namespace
}  // namespace equarx::sim::inbox_test
