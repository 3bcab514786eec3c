#include "sim/classes.hpp"

#include "tests/catch.hpp"

namespace equarx::sim::classes_test {
namespace {

using Numbers = std::vector<std::uint32_t>;

/// `chips` chips in a ring, each with a link to the next `distance` chips.
Machine ring(std::uint32_t chips, std::uint32_t distance) {
  Machine machine;
  machine.out_ports.resize(chips);
  for (std::uint32_t chip = 0; chip < chips; ++chip) {
    machine.chip_names.push_back(std::to_string(chip));
    machine.links.push_back({.name = "link", .rate = 1e9, .latency = 1e-6});
  }
  for (std::uint32_t chip = 0; chip < chips; ++chip) {
    OutPort port{.peer = (chip + distance) % chips};
    for (std::uint32_t hop = 0; hop < distance; ++hop) port.route.push_back((chip + hop) % chips);
    machine.out_ports[chip].push_back(port);
  }
  return machine;
}

TEST_CASE("chips of a ring are one class, which sends to itself") {
  const Machine machine = ring(6, 1);
  const ChipClasses classes = chip_classes(machine, Numbers(6));
  CHECK(classes.firsts == Numbers{0});
  CHECK(classes.sizes == Numbers{6});
  const ClassMachine made = class_machine(machine, classes);
  REQUIRE(made.machine.ranks() == 1);
  const OutPort& port = made.machine.out_ports[0][0];
  CHECK(port.peer == 0);
  CHECK(port.sends(0));
  CHECK(port.route == Route{0});
  CHECK(made.link_weights == std::vector<std::uint64_t>{6});
  CHECK_FALSE(shares_links(made.machine));
}

TEST_CASE("messages over several alike links share the one that represents them") {
  const Machine machine = ring(6, 2);
  const ClassMachine made = class_machine(machine, chip_classes(machine, Numbers(6)));
  CHECK(made.machine.out_ports[0][0].route == Route{0, 0});
  CHECK(users_of_links(made.machine) == Numbers{2});
  CHECK(latency_s(made.machine, made.machine.out_ports[0][0].route) == 2e-6);
}

TEST_CASE("classes follow the instructions and the way of messages") {
  // A chip of its own kind makes all others differ by their distance from it.
  CHECK(chip_classes(ring(5, 1), {0, 0, 1, 0, 0}).firsts.size() == 5);
  CHECK(chip_classes(ring(6, 1), {0, 1, 0, 1, 0, 1}).class_of == Numbers{0, 1, 0, 1, 0, 1});
  Machine slow = ring(6, 1);
  slow.links[0].rate /= 2;
  slow.links[3].rate /= 2;
  CHECK(chip_classes(slow, Numbers(6)).class_of == Numbers{0, 1, 2, 0, 1, 2});
  slow.slowdown = {1, 1, 2, 1, 1, 1};
  CHECK(chip_classes(slow, Numbers(6)).firsts.size() == 6);
}

/// Two pairs of chips; both chips of a pair send to the other pair over one port, and receive over one.
Machine shared_ports() {
  Machine machine;
  for (const char* name : {"out 0", "in 0", "out 1", "in 1"})
    machine.links.push_back({.name = name, .rate = 8e9, .latency = 1e-6});
  for (std::uint32_t chip = 0; chip < 4; ++chip) {
    machine.chip_names.push_back(std::to_string(chip));
    const LinkIndex out = 2 * (chip / 2);
    machine.out_ports.push_back({{.peer = (chip + 2) % 4, .route = {out, 3 - out}}});
  }
  return machine;
}

TEST_CASE("the port of several chips of a class has a share for the one of them") {
  const Machine machine = shared_ports();
  const ClassMachine made = class_machine(machine, chip_classes(machine, Numbers(4)));
  REQUIRE(made.machine.ranks() == 1);
  REQUIRE(made.machine.links.size() == 2);
  for (const LinkSpec& link : made.machine.links) {
    CHECK(link.rate == 4e9);
    CHECK(link.users == 2);
  }
  CHECK(users_of_links(made.machine) == Numbers{2, 2});
  CHECK(bottleneck_rate(made.machine, made.machine.out_ports[0][0].route) == 8e9);
  CHECK(made.link_weights == std::vector<std::uint64_t>{4, 4});
}

TEST_CASE("ports that carry unequal numbers of messages are an obstacle") {
  Machine machine = shared_ports();
  machine.out_ports[1][0] = {.peer = 1};  // sends nothing
  machine.out_ports[3][0] = {.peer = 3};
  for (std::vector<OutPort>& ports : machine.out_ports)
    ports.push_back({.peer = ports[0].peer, .route = ports[0].route});
  const ChipClasses classes = chip_classes(machine, Numbers(4));
  CHECK(classes.class_of == Numbers{0, 1, 0, 1});
  CHECK(class_machine(machine, classes).obstacle.empty());
  // Three chips on a port, one in another class.
  Machine unequal = shared_ports();
  for (std::uint32_t chip = 0; chip < 4; ++chip)
    unequal.out_ports[chip] = {{.peer = chip == 0   ? 1U
                                        : chip == 1 ? 2U
                                        : chip == 2 ? 0U
                                                    : 3U,
                                .route = {0, 1}}};
  unequal.out_ports[3][0].route = {};
  unequal.out_ports.push_back({{.peer = 5, .route = {0, 1}}});
  unequal.out_ports.push_back({{.peer = 4}});
  unequal.chip_names = {"0", "1", "2", "3", "4", "5"};
  const ClassMachine made = class_machine(unequal, chip_classes(unequal, Numbers(6)));
  CHECK(made.obstacle == "in 0 carries unequal numbers of alike messages");
}

}  // namespace
}  // namespace equarx::sim::classes_test
