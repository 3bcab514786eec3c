#include "sim/engines/direct/shared_links.hpp"

#include <limits>

#include "tests/catch.hpp"

namespace equarx::sim::shared_links_test {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// Chips 0 and 1 send to chip 2 over a link of 10 B/s, which chip 0 reaches over a link of 4 B/s.
Machine two_senders() {
  Machine machine;
  machine.links = {{"shared", 10.0, 0.0}, {"narrow", 4.0, 0.0}, {"spare", 1.0, 0.0}};
  machine.chip_names = {"0", "1", "2"};
  machine.out_ports = {{{2, {1, 0}}}, {{2, {0}}}, {{0, {2}}}};
  return machine;
}

TEST_CASE("transfers share a link, and one gets the rate the other cannot use") {
  const Machine machine = two_senders();
  const Wiring wiring(machine);
  REQUIRE(wiring.shares());
  SharedLinks links(machine, wiring);
  CHECK(links.next_s() == kNever);
  links.send(0, 8.0, {0, 0}, 0.0);   // 4 B/s
  links.send(1, 12.0, {1, 0}, 0.0);  // 6 B/s
  CHECK(links.next_s() == 2.0);
  CHECK(links.leave(2.0).size() == 2);
  CHECK(links.next_s() == kNever);
}

TEST_CASE("transfers of a pair are serialized") {
  const Machine machine = two_senders();
  const Wiring wiring(machine);
  SharedLinks links(machine, wiring);
  links.send(1, 10.0, {7, 0}, 0.0);
  links.send(1, 20.0, {7, 1}, 0.5);
  REQUIRE(links.next_s() == 1.0);
  const auto gone = links.leave(1.0);
  REQUIRE(gone.size() == 1);
  CHECK(gone.front().inbox == 7);
  CHECK(gone.front().number == 0);
  CHECK(links.next_s() == 3.0);
}

TEST_CASE("a second transfer only slows the first one down") {
  const Machine machine = two_senders();
  const Wiring wiring(machine);
  SharedLinks links(machine, wiring);
  links.send(1, 10.0, {1, 0}, 0.0);
  CHECK(links.next_s() == 1.0);
  links.send(0, 4.0, {0, 0}, 0.5);  // for one second, while the other gets 6 B/s
  CHECK(links.next_s() == Approx(0.5 + 5.0 / 6.0));
}

TEST_CASE("a link failure aborts only the transfers over the link") {
  const Machine machine = two_senders();
  const Wiring wiring(machine);
  SharedLinks links(machine, wiring);
  links.send(0, 8.0, {0, 0}, 0.0);
  links.send(0, 8.0, {0, 1}, 0.0);
  links.send(1, 12.0, {1, 0}, 0.0);
  links.next_s();
  CHECK(links.fail(1, 1.0).size() == 2);
  CHECK(links.next_s() == Approx(1.0 + 6.0 / 10.0));  // at the full link rate
}

TEST_CASE("a busy pair drops completed transfers and keeps queued ones") {
  const Machine machine = two_senders();
  const Wiring wiring(machine);
  SharedLinks links(machine, wiring);
  constexpr std::uint64_t kTransfers = 1000;
  std::uint64_t sent = 0;
  const auto send = [&](double now_s) { links.send(1, 10.0, {7, sent++}, now_s); };
  for (int ahead = 0; ahead < 30; ++ahead) send(0.0);
  for (std::uint64_t number = 0; number < kTransfers; ++number) {
    const double next_s = links.next_s();
    REQUIRE(next_s == Approx(static_cast<double>(number + 1)));
    const auto gone = links.leave(next_s);
    REQUIRE(gone.size() == 1);
    REQUIRE(gone.front().number == number);
    if (sent < kTransfers) send(next_s);
  }
  CHECK(links.next_s() == kNever);
}

TEST_CASE("a core gets its share of an HBM, and its completion identifies the stream") {
  Machine machine = two_senders();
  add_hbm(9.0, machine);
  const Wiring wiring(machine);
  SharedLinks links(machine, wiring);
  links.send(1, 9.0, {1, 0}, 0.0);  // from chip 1 to chip 2, 9 B/s if isolated
  CHECK(links.next_s() == 1.0);
  links.access(2, 9.0, 0.0);  // half the rate each
  CHECK(links.next_s() == 2.0);
  const auto gone = links.leave(2.0);
  REQUIRE(gone.size() == 2);
  const bool core_first = gone.front().inbox == SharedLinks::kCore;
  CHECK(gone[core_first ? 1 : 0].inbox == 1);
  CHECK(gone[core_first ? 0 : 1].inbox == SharedLinks::kCore);
  CHECK(gone[core_first ? 0 : 1].number == 2);
  links.access(0, 18.0, 2.0);
  CHECK(links.next_s() == 4.0);
}

}  // namespace
}  // namespace equarx::sim::shared_links_test
