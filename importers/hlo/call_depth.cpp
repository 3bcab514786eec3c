#include "importers/hlo/call_depth.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <fmt/format.h>

#include "base/exceptions/exceptions.hpp"

namespace equarx::hlo {
namespace {

constexpr int kMaxCallDepth = 256;

}  // namespace

void check_calls(const Module& module) {
  enum class State : std::uint8_t { unseen, open, done };
  std::vector<State> states(module.computations.size(), State::unseen);
  // Depth of the call tree, including itself.
  std::vector<int> depths(module.computations.size(), 1);
  struct Visit {
    ComputationId id;
    std::vector<ComputationId> callees;
  };
  for (ComputationId first = 0; first < states.size(); ++first) {
    if (states[first] != State::unseen) continue;
    std::vector<Visit> path;
    const auto enter = [&](ComputationId id) {
      states[id] = State::open;
      Visit& visit = path.emplace_back(Visit{id, {}});
      for (const Instruction& instruction : module.computations[id].instructions)
        visit.callees.insert(visit.callees.end(), instruction.called.begin(),
                             instruction.called.end());
    };
    enter(first);
    while (!path.empty()) {
      if (path.back().callees.empty()) {
        const ComputationId done = path.back().id;
        states[done] = State::done;
        path.pop_back();
        if (!path.empty())
          depths[path.back().id] = std::max(depths[path.back().id], depths[done] + 1);
        if (depths[done] > kMaxCallDepth)
          throw exceptions::UserError(
              "", fmt::format("calls are nested more than {} deep", kMaxCallDepth));
        continue;
      }
      const ComputationId next = path.back().callees.back();
      path.back().callees.pop_back();
      if (states[next] == State::open)
        throw exceptions::UserError(
            "", fmt::format("computation '{}' calls itself", module.computations[next].name));
      if (states[next] == State::unseen) enter(next);
      depths[path.back().id] =
          std::max(depths[path.back().id], states[next] == State::done ? depths[next] + 1 : 1);
    }
  }
}

}  // namespace equarx::hlo
