#include "importers/profile/profile.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/input/errors.hpp"

namespace equarx::profile {

std::uint32_t call_id(Profile& profile, const Call& call) {
  const auto found = std::ranges::find(profile.calls, call);
  const auto index = static_cast<std::uint32_t>(found - profile.calls.begin());
  if (found == profile.calls.end()) profile.calls.push_back(call);
  return index;
}

void merge(Profile& into, const Profile& from) {
  if (into.chips != from.chips)
    throw input::InputError("", fmt::format("is of a run on {} chips, but the first file of one on "
                                            "{}; give files of the same run",
                                            from.chips, into.chips));
  const auto first = static_cast<std::uint32_t>(into.devices.size());
  for (const Device& device : from.devices) {
    if (std::ranges::find(into.devices, device.name, &Device::name) != into.devices.end())
      throw input::InputError(
          "", fmt::format("is of {}, as is another file; give one file per rank", device.name));
    into.devices.push_back(device);
  }
  for (Execution execution : from.executions) {
    execution.call = call_id(into, from.calls[execution.call]);
    execution.device += first;
    into.executions.push_back(execution);
  }
  for (const auto& [note, count] : from.notes) into.notes[note] += count;
}

}  // namespace equarx::profile
