#include "models/hardware/protocol.hpp"

#include "tests/catch.hpp"

namespace equarx::hardware::protocol_test {
namespace {

Chip chip_with_ll() {
  Chip chip;
  chip.collective_startup.value = 5e-6;
  chip.hop_latency.value = 1e-6;
  chip.link_efficiency.value = 0.9;
  chip.ll_startup.value = 7e-6;
  chip.ll_hop_latency.value = 0.6e-6;
  chip.ll_efficiency.value = 0.3;
  return chip;
}

TEST_CASE("a protocol replaces startup, hop latency and efficiency, and nothing else") {
  const Chip chip = chip_with_ll();
  const Chip seen = under_protocol(chip, Protocol::ll, false);
  CHECK(seen.collective_startup.value == 7e-6);
  CHECK(seen.hop_latency.value == 0.6e-6);
  CHECK(seen.link_efficiency.value == 0.3);
  CHECK(seen.ll_efficiency.value == chip.ll_efficiency.value);
  const Chip same = under_protocol(chip, Protocol::none, false);
  CHECK(same.collective_startup.value == 5e-6);
  CHECK(same.link_efficiency.value == 0.9);
}

TEST_CASE("a chip has the protocols whose parameters it states") {
  Chip chip = chip_with_ll();
  CHECK(has_protocol(chip, Protocol::none, false));
  CHECK(has_protocol(chip, Protocol::none, true));
  CHECK(has_protocol(chip, Protocol::ll, false));
  CHECK_FALSE(has_protocol(chip, Protocol::ll128, false));
  CHECK_FALSE(has_protocol(chip, Protocol::simple, false));
}

TEST_CASE("sums in the switch run under Simple only, with a startup that includes hops") {
  Chip chip = chip_with_ll();
  CHECK_FALSE(has_protocol(chip, Protocol::simple, true));
  chip.switch_startup.value = 25e-6;
  chip.simple_efficiency.value = 0.8;
  CHECK(has_protocol(chip, Protocol::simple, true));
  CHECK_FALSE(has_protocol(chip, Protocol::ll, true));
  const Chip seen = under_protocol(chip, Protocol::simple, true);
  CHECK(seen.collective_startup.value == 25e-6);
  CHECK(seen.hop_latency.value == 0.0);
  CHECK(seen.link_efficiency.value == 0.8);
}

TEST_CASE("protocols have NCCL's names") {
  CHECK(name(Protocol::ll) == "ll");
  CHECK(name(Protocol::ll128) == "ll128");
  CHECK(name(Protocol::simple) == "simple");
}

}  // namespace
}  // namespace equarx::hardware::protocol_test
