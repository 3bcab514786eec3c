// Profiles of XLA programs, as XProf writes them for the trace viewer.
#pragma once

#include <string_view>

#include "importers/profile/profile.hpp"

namespace equarx::profile {

/// Reads the lines "XLA Ops" and "Async XLA Ops" of all devices of a trace.json. Collectives are the
/// events with the HLO text of one. `chips`: of the machine, for collectives of all chips whose
/// groups name none.
/// @throws input::InputError if the text is no trace, or has no collective with HLO text
Profile read_xprof(std::string_view text, std::uint32_t chips);

}  // namespace equarx::profile
