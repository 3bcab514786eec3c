#include "sim/link_times.hpp"

#include "tests/catch.hpp"

namespace equarx::sim::link_times_test {
namespace {

using collectives::Program;

/// Two ranks, one channel, messages of 1000 B with segment 0 of a tiny tensor.
Program program_of(std::size_t messages) {
  Program program{
      collectives::Collective::all_reduce,
      collectives::Partition(64, collectives::RankGrid({2}), {{.axes = {0}, .cuts = {{}}}}),
      numerics::ElementFormat::bf16,
      {},
      {},
      {},
      {},
      {}};
  program.channels = {{1, "forward"}};
  program.buffers.resize(1);
  program.buffers[0].bytes = 1000;
  program.messages.resize(messages);
  return program;
}

/// One link from rank 0 to rank 1 at 1 GB/s with a latency of 2 us, and one back.
Machine machine_of() {
  Machine machine;
  machine.links = {{"0->1", 1e9, 2e-6}, {"1->0", 1e9, 2e-6}};
  machine.chip_names = {"0", "1"};
  machine.out_ports = {{{1, {0}}}, {{0, {1}}}};
  return machine;
}

TEST_CASE("a transfer holds a FIFO link for its bytes and its link time") {
  const Costs costs{{}, {0.0, 5e-7}};
  const std::vector<TransferEvent> transfers = {{0, 1, 0, 0.0, 3e-6}, {0, 1, 1, 0.0, 4.5e-6}};
  const auto times = link_times(program_of(2), machine_of(), costs, transfers);
  REQUIRE(times.size() == 2);
  CHECK(times[0].start_s == Approx(0.0).margin(1e-15));
  CHECK(times[0].end_s == Approx(1e-6));
  CHECK(times[1].start_s == Approx(1e-6));
  CHECK(times[1].end_s == Approx(2.5e-6));
  CHECK_FALSE(times[0].shared);
}

TEST_CASE("an idle FIFO link starts a transfer when it is sent") {
  const Costs costs{{}, {0.0}};
  const auto times = link_times(program_of(1), machine_of(), costs,
                                std::vector<TransferEvent>{{0, 1, 0, 7e-6, 10e-6}});
  CHECK(times[0].start_s == Approx(7e-6));
  CHECK(times[0].end_s == Approx(8e-6));
}

TEST_CASE("transfers on a FIFO link do not overlap despite rounding") {
  const Costs costs{{}, {0.0, 0.0}};
  const std::vector<TransferEvent> transfers = {{0, 1, 0, 0.0, 3e-6}, {0, 1, 1, 0.0, 4e-6 - 1e-13}};
  const auto times = link_times(program_of(2), machine_of(), costs, transfers);
  CHECK(times[1].start_s >= times[0].end_s);
}

TEST_CASE("a transfer on a shared link starts when the previous one has left") {
  Machine machine = machine_of();
  machine.chip_names.push_back("2");
  machine.links.push_back({"1->2", 1e9, 2e-6});
  machine.out_ports = {{{1, {0}}}, {{2, {2}}}, {{0, {0}}}};  // rank 2 also uses link 0->1
  const Costs costs{{}, {0.0, 0.0}};
  const std::vector<TransferEvent> transfers = {{0, 1, 0, 0.0, 4e-6}, {0, 1, 1, 1e-6, 6e-6}};
  const auto times = link_times(program_of(2), machine, costs, transfers);
  CHECK(times[0].shared);
  CHECK(times[0].start_s == 0.0);
  CHECK(times[0].end_s == Approx(2e-6));
  CHECK(times[1].start_s == Approx(2e-6));
  CHECK(times[1].end_s == Approx(4e-6));
}

}  // namespace
}  // namespace equarx::sim::link_times_test
