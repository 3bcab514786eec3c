#include "importers/msccl/msccl.hpp"

#include <cstdint>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/input/json_text.hpp"
#include "importers/common/machine_text.hpp"
#include "importers/msccl/check.hpp"
#include "importers/msccl/msccl_xml.hpp"
#include "importers/msccl/races.hpp"
#include "importers/msccl/values.hpp"
#include "importers/msccl/walk.hpp"

namespace equarx::imports {
namespace {

using input::InputError;

/// Verifies the result for in-place or out-of-place buffers.
void verify_in(bool in_place, MscclSchedule& checked) {
  const schedules::Schedule& schedule = checked.schedule;
  const char* how = in_place ? "in place" : "out of place";
  checked.looked_for_races = schedules::can_look_for_races(schedule);
  if (checked.looked_for_races) {
    const std::string race = schedules::find_race(schedule, checked.queues, in_place);
    if (!race.empty())
      throw InputError(
          "", fmt::format("has a race, {}: {}; add a dependency (depid, deps)", how, race));
  }
  const schedules::Verdict verdict = schedules::verify(schedule, checked.queues, in_place);
  checked.compared = verdict.checked;
  if (!verdict.wrong.empty())
    throw InputError("", fmt::format("is not a correct {}, {}: {}",
                                     schedules::name(schedule.collective), how, verdict.wrong));
}

/// Rejects execution plans of MSCCL++, which are JSON and easily confused with MSCCL schedules.
void reject_plan(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || text[begin] != '{') return;
  throw InputError("",
                   "is JSON like execution plans of MSCCL++, not MSCCL XML; such plans access the "
                   "memory of other GPUs directly, which is not simulated: see docs/msccl.md");
}

}  // namespace

bool is_schedule(std::string_view text) { return schedules::is_xml(text); }

std::string read_schedule_text(const std::string& path) {
  constexpr std::uintmax_t kMaxBytes = std::uintmax_t{1} << 28U;
  return read_limited_file(path, kMaxBytes, "schedules");
}

MscclSchedule read_msccl(const std::string& text) {
  reject_plan(text);
  MscclSchedule checked;
  checked.schedule = schedules::read_msccl_xml(text);
  schedules::check(checked.schedule);
  checked.queues = schedules::find_queues(checked.schedule);
  schedules::walk(checked.schedule, checked.queues, {});
  if (checked.schedule.in_place) verify_in(true, checked);
  if (checked.schedule.out_of_place) verify_in(false, checked);
  return checked;
}

}  // namespace equarx::imports
