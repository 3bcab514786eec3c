#include "importers/hlo/not_run.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "importers/hlo/contents.hpp"

namespace equarx::hlo {
namespace {

/// The first instruction found to call each computation that ENTRY reaches; none for ENTRY.
std::map<ComputationId, std::optional<Place>> callers_in(const Module& module) {
  std::map<ComputationId, std::optional<Place>> callers = {{module.entry, std::nullopt}};
  std::vector<ComputationId> order = {module.entry};
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::vector<Instruction>& instructions = module.computations[order[i]].instructions;
    for (InstructionId of = 0; of < instructions.size(); ++of)
      for (const ComputationId called : instructions[of].called)
        if (callers.try_emplace(called, Place{order[i], of}).second) order.push_back(called);
  }
  return callers;
}

/// Reason of the nearest caller that has one.
std::string reason_of(ComputationId id, const Module& module,
                      const std::map<ComputationId, std::optional<Place>>& callers,
                      const std::map<ComputationId, std::string>& reasons) {
  while (true) {
    if (const auto known = reasons.find(id); known != reasons.end()) return known->second;
    const std::optional<Place>& caller = callers.at(id);
    if (!caller) return "where no call runs it";
    const Instruction& by = module.computations[caller->first].instructions[caller->second];
    const bool has_body = by.opcode == "while" || by.opcode == "conditional";
    if (!runs_called(by) && !has_body)
      return fmt::format("in computation '{}', which {} '{}' applies to elements",
                         module.computations[id].name, by.opcode, by.name);
    id = caller->first;
  }
}

}  // namespace

std::vector<NotRun> collectives_not_run(const Module& module, const std::vector<Place>& places,
                                        const std::map<ComputationId, std::string>& reasons) {
  const std::set<Place> run(places.begin(), places.end());
  const auto callers = callers_in(module);
  std::vector<NotRun> not_run;
  for (const auto& [id, caller] : callers) {
    const std::vector<Instruction>& instructions = module.computations[id].instructions;
    for (InstructionId of = 0; of < instructions.size(); ++of)
      if (is_collective(instructions[of]) && !run.contains({id, of}))
        not_run.push_back({{id, of}, reason_of(id, module, callers, reasons)});
  }
  return not_run;
}

void add_notes(const Module& module, const std::vector<NotRun>& not_run, Skipped& notes) {
  constexpr std::size_t kMaxNames = 50;
  std::map<std::string, std::vector<std::string>> by_reason;
  for (const auto& [place, reason] : not_run) {
    const Instruction& one = module.computations[place.first].instructions[place.second];
    by_reason[reason].push_back(fmt::format("{} '{}'", one.opcode, one.name));
  }
  for (const auto& [reason, names] : by_reason) {
    std::string text;
    for (std::size_t i = 0; i < std::min(names.size(), kMaxNames); ++i)
      text += (i == 0 ? "" : ", ") + names[i];
    if (names.size() > kMaxNames) text += fmt::format(" and {} more", names.size() - kMaxNames);
    notes[fmt::format("not run, {}: {}", reason, text)] += static_cast<std::uint32_t>(names.size());
  }
}

}  // namespace equarx::hlo
