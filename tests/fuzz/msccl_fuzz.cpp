// Any text either parses to a schedule that runs to completion or is refused in one short line.
#include <cstdlib>
#include <string_view>

#include "base/exceptions/exceptions.hpp"
#include "importers/msccl/check.hpp"
#include "importers/msccl/msccl_xml.hpp"
#include "importers/msccl/races.hpp"
#include "importers/msccl/values.hpp"
#include "importers/msccl/walk.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace equarx::schedules;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const Schedule schedule = read_msccl_xml(text);
    if (!(read_msccl_xml(write_msccl_xml(schedule)) == schedule)) std::abort();
    check(schedule);
    const Queues queues = find_queues(schedule);
    walk(schedule, queues, {.loops = 2, .chunks_at_once = 3});
    constexpr std::uint64_t kMostChunks = 1 << 18;
    if (std::uint64_t{schedule.chunks} * schedule.ranks.size() > kMostChunks) return 0;
    for (const Rank& rank : schedule.ranks)
      for (const std::uint32_t chunks : rank.chunks)
        if (chunks > kMostChunks) return 0;
    for (const bool in_place : {true, false}) {
      verify(schedule, queues, in_place);
      if (can_look_for_races(schedule)) find_race(schedule, queues, in_place);
    }
  } catch (const equarx::exceptions::UserError& error) {
    constexpr std::size_t kLongestLine = 2000;
    if (std::string_view(error.what()).size() > kLongestLine) std::abort();
  }
  return 0;
}
