#include "importers/hlo/chip_count.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/exceptions/exceptions.hpp"
#include "importers/hlo/contents.hpp"
#include "importers/hlo/replica_groups.hpp"

namespace equarx::hlo {
namespace {

/// Least numbers of replicas, partitions and chips that the collectives of a module name.
struct Named {
  std::uint64_t replicas = 1;
  std::uint64_t partitions = 1;
  std::uint64_t chips = 1;
  bool only_replicas = true;
  /// The collective that names the largest number.
  const Instruction* by = nullptr;
  std::uint64_t largest = 0;

  void add(const Instruction& collective) {
    const Numbers numbers = numbers_of(collective);
    only_replicas = only_replicas && numbers == Numbers::replicas;
    const std::optional<std::uint64_t> number = largest_number(collective);
    if (!number) return;
    if (by == nullptr || *number > largest) by = &collective;
    largest = std::max(largest, *number);
    std::uint64_t& count = numbers == Numbers::devices      ? chips
                           : numbers == Numbers::partitions ? partitions
                                                            : replicas;
    count = std::max(count, *number + 1);
  }

  /// Least number of chips.
  std::uint64_t least() const { return std::max(chips, replicas * partitions); }
};

Named named_in(const Module& module) {
  Named named;
  for (const Computation& computation : module.computations)
    for (const Instruction& instruction : computation.instructions)
      if (is_collective(instruction)) named.add(instruction);
  return named;
}

/// "all-reduce 'r' (line 9) names chip 7"
std::string largest_text(const Named& named) {
  const char* const what = numbers_of(*named.by) == Numbers::devices      ? "chip"
                           : numbers_of(*named.by) == Numbers::partitions ? "partition"
                                                                          : "replica";
  return fmt::format("{} '{}' (line {}) names {} {}", named.by->opcode, named.by->name,
                     named.by->line, what, named.largest);
}

void check_header(const Module& module, std::optional<std::uint32_t> chips) {
  if (chips && *chips != module.devices())
    throw exceptions::UserError(
        "--chips", fmt::format("the header of the program has {}, {} chips, not {}; leave --chips "
                               "out",
                               chip_count_text(module), module.devices(), *chips));
}

}  // namespace

void set_chip_count(Module& module, std::optional<std::uint32_t> chips) {
  if (module.has_chip_count) return check_header(module, chips);
  const Named named = named_in(module);
  if (chips && *chips < named.least())
    throw exceptions::UserError("--chips",
                                fmt::format("{}, so the program is for at least {} chips, not {}",
                                            largest_text(named), named.least(), *chips));
  const std::uint64_t all = chips ? *chips : named.least();
  std::uint64_t replicas = named.only_replicas ? all : named.replicas;
  if (all % replicas != 0) replicas = 1;
  module.replicas = static_cast<std::uint32_t>(replicas);
  module.partitions = static_cast<std::uint32_t>(all / replicas);
  if (!chips && all > 1)
    ++module
          .skipped[fmt::format("the header has no num_partitions: {} chips, as many as the "
                               "collectives name; if there are more, add --chips",
                               all)];
}

std::string chip_count_text(const Module& module) {
  if (module.has_chip_count)
    return fmt::format("replica_count {} x num_partitions {}", module.replicas, module.partitions);
  const Named named = named_in(module);
  if (named.by == nullptr)
    return "its header has no num_partitions, and no collective names chips; set them with --chips";
  return fmt::format("its header has no num_partitions, and {}; if there are more, add --chips",
                     largest_text(named));
}

}  // namespace equarx::hlo
