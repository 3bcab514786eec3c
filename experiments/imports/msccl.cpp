#include "experiments/imports/msccl.hpp"

#include <cstdint>

#include <fmt/format.h>

#include "experiments/imports/machine_text.hpp"
#include "experiments/input/errors.hpp"
#include "experiments/input/json_text.hpp"
#include "models/schedules/check.hpp"
#include "models/schedules/msccl_xml.hpp"
#include "models/schedules/races.hpp"
#include "models/schedules/values.hpp"
#include "models/schedules/walk.hpp"

namespace equarx::imports {
namespace {

using input::InputError;

/// Holds it to its collective, as it is written for it: in place, out of place or both.
void verify_in(bool in_place, MscclSchedule& made) {
  const schedules::Schedule& schedule = made.schedule;
  const char* how = in_place ? "in place" : "out of place";
  made.looked_for_races = schedules::can_look_for_races(schedule);
  if (made.looked_for_races) {
    const std::string race = schedules::find_race(schedule, made.queues, in_place);
    if (!race.empty())
      throw InputError(
          "",
          fmt::format("has a race, {}: {}; let one wait for the other (depid, deps)", how, race));
  }
  const schedules::Verdict verdict = schedules::verify(schedule, made.queues, in_place);
  made.compared = verdict.checked;
  if (!verdict.wrong.empty())
    throw InputError("", fmt::format("is no {}, {}: {}", schedules::name(schedule.collective), how,
                                     verdict.wrong));
}

/// MSCCL++ has its plans in JSON, under a name that is nearly the same.
void refuse_plan(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || text[begin] != '{') return;
  throw InputError("",
                   "is JSON, as plans of MSCCL++ are, and no XML of MSCCL; plans read and write "
                   "the memory of other GPUs without a message, and are not simulated: see "
                   "docs/msccl.md");
}

}  // namespace

bool is_schedule(std::string_view text) { return schedules::is_xml(text); }

std::string read_schedule_text(const std::string& path) {
  constexpr std::uintmax_t kMostBytes = std::uintmax_t{1} << 28U;
  return read_file_of_others(path, kMostBytes, "schedules");
}

MscclSchedule read_msccl(const std::string& text) {
  refuse_plan(text);
  MscclSchedule made;
  try {
    made.schedule = schedules::read_msccl_xml(text);
    schedules::check(made.schedule);
    made.queues = schedules::find_queues(made.schedule);
    schedules::walk(made.schedule, made.queues, {});
    if (made.schedule.in_place) verify_in(true, made);
    if (made.schedule.out_of_place) verify_in(false, made);
  } catch (const schedules::ScheduleError& error) {
    throw InputError("", error.what());
  }
  return made;
}

}  // namespace equarx::imports
