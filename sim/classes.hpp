// Chips that are in the same state at all times, simulated as one.
//
// Chips are in one class if they run the same instructions and, in each channel, send over alike links
// to chips of one class and receive from chips of one class. Links are alike if they have the same
// rate and latency, and the messages of as many chips of each class and channel cross them: an
// equitable partition of chips and links. By induction over time, all chips and links of a class are
// then always in the same state, as max-min fair rates depend on the number of messages on each link
// alone. One chip and one link for each class have these states: a message within a class leaves
// and enters the same chip.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/machine.hpp"

namespace equarx::sim {

/// Classes of the chips of a machine, in the order of their first chips.
struct ChipClasses {
  std::vector<std::uint32_t> class_of;     ///< by chip
  std::vector<collectives::Rank> firsts;   ///< by class, its first chip
  std::vector<std::uint32_t> sizes;        ///< by class, its number of chips
  std::vector<std::uint32_t> link_groups;  ///< by link of the machine; alike links are in one group
};

/// Returns the classes with the most chips. `kinds`: by chip; chips of different kinds run different
/// instructions. Precondition: no link fails.
ChipClasses chip_classes(const Machine& machine, const std::vector<std::uint32_t>& kinds);

/// Likewise; std::nullopt if there are more than `most` classes, which takes less time to find.
std::optional<ChipClasses> few_classes(const Machine& machine,
                                       const std::vector<std::uint32_t>& kinds, std::uint32_t most);

/// Returns, by chip, the number of its instruction streams: equal for chips with equal ones.
std::vector<std::uint32_t> chip_kinds(const Timelines& timelines);

/// A machine with one chip for each class of another machine.
struct ClassMachine {
  Machine machine;
  /// By link: one byte on it stands for this many on the links of the other machine.
  std::vector<std::uint64_t> link_weights;
  /// Why the classes cannot be simulated: then `machine` is empty.
  std::string obstacle;
};

/// Chips of the result are in the order of classes. Links that carry several messages of a class have
/// the rate for each. For the direct engine only.
ClassMachine class_machine(const Machine& machine, const ChipClasses& classes);

/// Classes of the chips of a machine that can be simulated, and the machine of one chip of each.
struct MachineByClass {
  ChipClasses classes;
  Machine machine;
};

/// Returns null if there are more than half as many classes as chips, or they cannot be simulated.
/// `kinds`: as for chip_classes()
std::shared_ptr<const MachineByClass> by_class(const Machine& machine,
                                               const std::vector<std::uint32_t>& kinds);

}  // namespace equarx::sim
