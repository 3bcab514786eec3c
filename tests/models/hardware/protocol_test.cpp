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
  const Chip seen = under_protocol(chip, Protocol::ll, Pattern::ring);
  CHECK(seen.collective_startup.value == 7e-6);
  CHECK(seen.hop_latency.value == 0.6e-6);
  CHECK(seen.link_efficiency.value == 0.3);
  CHECK(seen.ll_efficiency.value == chip.ll_efficiency.value);
  const Chip same = under_protocol(chip, Protocol::none, Pattern::ring);
  CHECK(same.collective_startup.value == 5e-6);
  CHECK(same.link_efficiency.value == 0.9);
}

TEST_CASE("a chip has the protocols whose parameters it states") {
  Chip chip = chip_with_ll();
  CHECK(has_protocol(chip, Protocol::none, Pattern::ring, false));
  CHECK(has_protocol(chip, Protocol::none, Pattern::in_switch, false));
  CHECK(has_protocol(chip, Protocol::ll, Pattern::ring, false));
  CHECK_FALSE(has_protocol(chip, Protocol::ll128, Pattern::ring, false));
  CHECK_FALSE(has_protocol(chip, Protocol::simple, Pattern::ring, false));
}

TEST_CASE("sums in the switch run under Simple only, with a startup that includes hops") {
  Chip chip = chip_with_ll();
  CHECK_FALSE(has_protocol(chip, Protocol::simple, Pattern::in_switch, false));
  chip.switch_startup.value = 25e-6;
  chip.simple_efficiency.value = 0.8;
  CHECK(has_protocol(chip, Protocol::simple, Pattern::in_switch, false));
  CHECK_FALSE(has_protocol(chip, Protocol::ll, Pattern::in_switch, false));
  const Chip seen = under_protocol(chip, Protocol::simple, Pattern::in_switch);
  CHECK(seen.collective_startup.value == 25e-6);
  CHECK(seen.hop_latency.value == 0.0);
  CHECK(seen.link_efficiency.value == 0.8);
}

TEST_CASE("trees have hops of their own and a share of the rate of rings") {
  Chip chip = chip_with_ll();
  CHECK_FALSE(has_protocol(chip, Protocol::ll, Pattern::tree, false));
  chip.ll_tree_hop_latency.value = 0.7e-6;
  chip.tree_efficiency.value = 0.5;
  CHECK(has_protocol(chip, Protocol::ll, Pattern::tree, false));
  CHECK_FALSE(has_protocol(chip, Protocol::ll, Pattern::tree, true));
  const Chip seen = under_protocol(chip, Protocol::ll, Pattern::tree);
  CHECK(seen.hop_latency.value == 0.7e-6);
  CHECK(seen.link_efficiency.value == Approx(0.15));
  CHECK(seen.collective_startup.value == 7e-6);
}

TEST_CASE("a network under a protocol is later, and as much slower as links are") {
  Chip chip = chip_with_ll();
  chip.simple_efficiency.value = 0.8;
  chip.simple_network_latency.value = 14e-6;
  CHECK_FALSE(has_protocol(chip, Protocol::ll, Pattern::ring, true));
  CHECK(has_protocol(chip, Protocol::simple, Pattern::ring, true));
  chip.ll_network_latency.value = 3e-6;
  const NetworkPort port{40e9, 2e-6};
  const auto seen = [&](Protocol protocol, Pattern pattern) {
    return under_protocol(port, 8, chip, protocol, pattern);
  };
  CHECK(seen(Protocol::none, Pattern::ring).rate == port.rate);
  CHECK(seen(Protocol::simple, Pattern::ring).rate == Approx(40e9));
  CHECK(seen(Protocol::simple, Pattern::ring).latency_s == Approx(16e-6));
  CHECK(seen(Protocol::ll, Pattern::ring).rate == Approx(15e9));
  chip.ll_network_bandwidth.value = 20e9;
  CHECK(seen(Protocol::ll, Pattern::ring).rate == Approx(2.5e9));  // over eight ports
  chip.tree_efficiency.value = 0.5;
  CHECK(seen(Protocol::simple, Pattern::tree).rate == Approx(20e9));
}

TEST_CASE("chunks of trees are NCCL's buffers in eight steps, less for small tensors under LL128") {
  constexpr std::uint64_t kKibi = 1024;
  constexpr std::uint64_t kMebi = 1024 * kKibi;
  CHECK(tree_chunk_bytes(Protocol::simple, 4, 8, kMebi) == 512 * kKibi);
  CHECK(tree_chunk_bytes(Protocol::ll, 4, 8, kMebi) == 32 * kKibi);
  CHECK(tree_chunk_bytes(Protocol::ll128, 4, 8, 8192 * kMebi) == 576'000);
  CHECK(tree_chunk_bytes(Protocol::ll128, 4, 8, 256 * kMebi) == 288'000);
  CHECK(tree_chunk_bytes(Protocol::ll128, 4, 8, kKibi) == 18'000);
}

TEST_CASE("protocols have NCCL's names") {
  CHECK(name(Protocol::ll) == "ll");
  CHECK(name(Protocol::ll128) == "ll128");
  CHECK(name(Protocol::simple) == "simple");
}

}  // namespace
}  // namespace equarx::hardware::protocol_test
