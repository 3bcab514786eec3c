// Profiles of PyTorch, as Kineto writes them.
#pragma once

#include <string_view>

#include "importers/profile/profile.hpp"

namespace equarx::profile {

/// Reads the kernels of a profile of one rank. Collectives are the kernels whose arguments, or whose
/// "record_param_comms" event, describe one.
/// @throws input::InputError if the text is no trace, or none of its kernels is a collective
Profile read_kineto(std::string_view text);

}  // namespace equarx::profile
