#include "sim/direct/shared_links.hpp"

#include <limits>

#include "tests/catch.hpp"

namespace equarx::sim {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// Chips 0 and 1 send to chip 2 over a link of 10 B/s, to which chip 0 comes by a link of 4 B/s.
Machine two_senders() {
  Machine machine;
  machine.links = {{"shared", 10.0, 0.0}, {"narrow", 4.0, 0.0}, {"spare", 1.0, 0.0}};
  machine.chip_names = {"0", "1", "2"};
  machine.ways = {{{2, {1, 0}}}, {{2, {0}}}, {{0, {2}}}};
  return machine;
}

TEST_CASE("transfers share a link, and what one cannot use the other has") {
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

TEST_CASE("transfers of a pair go one after the other") {
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

TEST_CASE("a transfer that joins slows the other one down, and no more than that") {
  const Machine machine = two_senders();
  const Wiring wiring(machine);
  SharedLinks links(machine, wiring);
  links.send(1, 10.0, {1, 0}, 0.0);
  CHECK(links.next_s() == 1.0);
  links.send(0, 4.0, {0, 0}, 0.5);  // for one second, in which the other has 6 B/s
  CHECK(links.next_s() == Approx(0.5 + 5.0 / 6.0));
}

TEST_CASE("a link that fails takes the transfers over it along, and no others") {
  const Machine machine = two_senders();
  const Wiring wiring(machine);
  SharedLinks links(machine, wiring);
  links.send(0, 8.0, {0, 0}, 0.0);
  links.send(0, 8.0, {0, 1}, 0.0);
  links.send(1, 12.0, {1, 0}, 0.0);
  links.next_s();
  CHECK(links.fail(1, 1.0).size() == 2);
  CHECK(links.next_s() == Approx(1.0 + 6.0 / 10.0));  // with the whole link
}

}  // namespace
}  // namespace equarx::sim
