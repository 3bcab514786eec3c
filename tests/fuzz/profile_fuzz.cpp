// Any text either reads as a profile whose figures are finite or is refused in one short line.
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "base/exceptions/exceptions.hpp"
#include "importers/profile/kineto.hpp"
#include "importers/profile/recorded.hpp"
#include "importers/profile/xprof.hpp"

namespace {

using namespace equarx::profile;

void check(Profile profile) {
  constexpr std::uint32_t kMostChips = 4096;
  if (profile.chips <= kMostChips) complete_groups(profile, profile.chips);
  for (const Recorded& row : recorded(profile)) {
    if (!(row.min_s <= row.median_s && row.median_s <= row.max_s)) std::abort();
    if (row.call.obstacle.empty() && row.call.groups.empty()) std::abort();
  }
  const Communication of = communication(profile);
  if (!(of.running_s >= 0.0 && of.exposed_s <= of.running_s)) std::abort();
}

void check_refusal(const equarx::exceptions::UserError& error) {
  constexpr std::size_t kLongestLine = 2000;
  const std::string_view message = error.what();
  if (message.size() > kLongestLine || message.find('\n') != std::string_view::npos) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  constexpr std::uint32_t kChips = 8;
  try {
    check(read_kineto(text));
  } catch (const equarx::exceptions::UserError& error) {
    check_refusal(error);
  }
  try {
    check(read_xprof(text, kChips));
  } catch (const equarx::exceptions::UserError& error) {
    check_refusal(error);
  }
  return 0;
}
