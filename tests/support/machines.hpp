// Machines and programs shared by tests of sim/.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "models/collectives/ring_program.hpp"
#include "sim/machine.hpp"
#include "sim/timeline.hpp"
#include "tests/support/rings.hpp"

namespace equarx::testing {

/// A ring of `ranks` chips with two directed links between neighbours; a ring of two has one link.
inline sim::Machine ring_machine(std::uint32_t ranks, double rate, double latency) {
  sim::Machine machine;
  machine.dma_queue = 16;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    machine.chip_names.push_back("chip " + std::to_string(rank));
    auto& out_ports = machine.out_ports.emplace_back();
    for (const std::uint32_t peer : {(rank + 1) % ranks, (rank + ranks - 1) % ranks}) {
      if (!out_ports.empty() && out_ports.front().peer == peer) {
        out_ports.push_back(out_ports.front());
        continue;
      }
      out_ports.push_back({peer, {static_cast<sim::LinkIndex>(machine.links.size())}});
      machine.links.push_back({"link " + std::to_string(machine.links.size()), rate, latency});
    }
  }
  return machine;
}

/// A machine on which every channel of `program` is a separate link from each chip to the next
/// along its axis: a torus with wraparound for a program on a grid. On an axis of length two both
/// directions lead to the same chip over the same link.
inline sim::Machine torus_machine(const collectives::Program& program, double rate,
                                  double latency) {
  sim::Machine machine;
  machine.dma_queue = 16;
  for (collectives::Rank rank = 0; rank < program.ranks(); ++rank) {
    machine.chip_names.push_back("chip " + std::to_string(rank));
    auto& out_ports = machine.out_ports.emplace_back();
    for (const collectives::Channel& channel : program.channels) {
      const collectives::Rank peer = program.grid().move(rank, channel.offset);
      const auto same = std::ranges::find(out_ports, peer, &sim::OutPort::peer);
      if (same != out_ports.end()) {
        const sim::OutPort port = *same;
        out_ports.push_back(port);
        continue;
      }
      out_ports.push_back({peer, {static_cast<sim::LinkIndex>(machine.links.size())}});
      machine.links.push_back(
          {"link " + std::to_string(rank) + " to " + std::to_string(peer), rate, latency});
    }
  }
  return machine;
}

inline collectives::RingOptions plain(
    numerics::ElementFormat format, std::uint32_t microshards,
    collectives::RingStyle style = collectives::RingStyle::full_loop) {
  return {.style = style,
          .reduce_scatter = {.element = format},
          .all_gather = {.element = format},
          .cut = {.minishards = 1, .microshards = microshards}};
}

inline collectives::RingOptions quantized(std::uint32_t minishards, std::uint32_t microshards,
                                          collectives::RingStyle style) {
  const numerics::BlockFormat int8{.element = numerics::ElementFormat::int8, .scaled = true};
  return {.style = style,
          .reduce_scatter = int8,
          .all_gather = int8,
          .cut = {.minishards = minishards, .microshards = microshards}};
}

/// Core time of each instruction, by kind.
struct UniformCosts {
  double work_s = 0.0;
  double send_s = 0.0;
  double wait_s = 0.0;
  double sync_s = 0.0;  ///< link time of messages that synchronise

  sim::Costs of(const collectives::Program& program) const {
    sim::Costs costs;
    for (const collectives::Message& message : program.messages)
      costs.link_s.push_back(message.synchronises ? sync_s : 0.0);
    for (const auto& instruction : program.instructions) {
      if (instruction.op == collectives::Op::send)
        costs.core_s.push_back(send_s);
      else if (instruction.op == collectives::Op::wait)
        costs.core_s.push_back(wait_s);
      else
        costs.core_s.push_back(is_vector_work(instruction.op) ? work_s : 0.0);
    }
    return costs;
  }
};

}  // namespace equarx::testing
