// Small schedules for tests.
#pragma once

#include <functional>
#include <string>

#include "base/exceptions/exceptions.hpp"
#include "importers/msccl/check.hpp"
#include "importers/msccl/queues.hpp"
#include "importers/msccl/schedule.hpp"
#include "importers/msccl/walk.hpp"

namespace equarx::testing {

/// Hand-written in-place AllReduce on two ranks: two chunks, one chunk of scratch. Each rank
/// receives the other's term of its own chunk, adds it and sends the sum back.
inline schedules::Schedule two_ranks() {
  using namespace schedules;
  Schedule schedule{.name = "two",
                    .collective = Collective::all_reduce,
                    .protocol = Protocol::simple,
                    .chunks = 2,
                    .in_place = true,
                    .ranks = {}};
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    const std::uint32_t other = 1 - rank;
    const Location own{Memory::input, rank};
    const Location remote{Memory::input, other};
    const Location scratch{Memory::scratch, 0};
    ThreadBlock exchange{.send_to = other, .receive_from = other, .channel = 0, .steps = {}};
    exchange.steps = {{.op = Op::send, .source = remote, .count = 1},
                      {.op = Op::receive, .destination = scratch, .count = 1, .signals = true},
                      {.op = Op::send, .source = own, .count = 1, .after = Dependency{1, 0}},
                      {.op = Op::receive, .destination = remote, .count = 1}};
    ThreadBlock addition;
    addition.steps = {{.op = Op::reduce,
                       .source = scratch,
                       .destination = own,
                       .count = 1,
                       .after = Dependency{0, 1},
                       .signals = true}};
    schedule.ranks.push_back({.chunks = {2, 0, 1}, .blocks = {exchange, addition}});
  }
  return schedule;
}

/// In-place ring AllReduce of N ranks and N chunks with one thread block per rank: rrs and rrcs
/// reduce, rcs gathers.
inline schedules::Schedule ring(std::uint32_t ranks) {
  using namespace schedules;
  Schedule schedule{.name = "ring",
                    .collective = Collective::all_reduce,
                    .protocol = Protocol::ll,
                    .chunks = ranks,
                    .in_place = true,
                    .ranks = {}};
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const auto at = [&](std::uint32_t back) {
      return Location{Memory::input, (rank + ranks - back % ranks) % ranks};
    };
    ThreadBlock block{.send_to = (rank + 1) % ranks, .receive_from = (rank + ranks - 1) % ranks};
    block.steps.push_back({.op = Op::send, .source = at(0), .count = 1});
    for (std::uint32_t hop = 1; hop + 1 < ranks; ++hop)
      block.steps.push_back({.op = Op::receive_reduce_send, .source = at(hop), .count = 1});
    block.steps.push_back({.op = Op::receive_reduce_copy_send,
                           .source = at(ranks - 1),
                           .destination = at(ranks - 1),
                           .count = 1});
    for (std::uint32_t hop = 0; hop + 2 < ranks; ++hop)
      block.steps.push_back({.op = Op::receive_copy_send, .destination = at(hop), .count = 1});
    block.steps.push_back({.op = Op::receive, .destination = at(ranks - 2), .count = 1});
    schedule.ranks.push_back({.chunks = {ranks, 0, 0}, .blocks = {block}});
  }
  return schedule;
}

/// Returns the message of the UserError that `act` throws; empty if it does not throw.
inline std::string refusal(const std::function<void()>& act) {
  try {
    act();
  } catch (const exceptions::UserError& error) {
    return error.what();
  }
  return {};
}

}  // namespace equarx::testing
