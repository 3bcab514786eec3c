// A program with the core time of its instructions, packed for the simulation's inner loop.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/collectives/program.hpp"

namespace equarx::sim {

/// What a chip does next: `delay_s` of core time, then a transfer.
struct Step {
  enum class Kind : std::uint8_t { send, wait, end };

  Kind kind = Kind::end;
  collectives::Direction direction = collectives::Direction::forward;
  double delay_s = 0.0;
  std::uint64_t bytes = 0;             ///< of a send
  collectives::MessageId message = 0;  ///< of a send or wait
  collectives::InstructionId instruction = 0;
};

/// Vector work between two transfers is one delay: nothing outside the chip can see it in parts.
/// `costs_s` is the core time of each instruction; that of a send comes before it, that of a wait
/// after the arrival.
std::vector<Step> make_timeline(const collectives::Program& program,
                                std::span<const double> costs_s);

}  // namespace equarx::sim
