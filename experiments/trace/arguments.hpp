// What the events of a trace say about themselves, as JSON objects.
#pragma once

#include <string>
#include <string_view>

#include "sim/machine.hpp"
#include "sim/time_executor.hpp"

namespace equarx::trace {

/// "payload" or "scales".
std::string_view content_name(const collectives::Program& program, collectives::MessageId id);

/// Of an instruction of a rank's core. `sender`: of the message, if it is a wait or a send. Shards are
/// called by the rank that they belong to.
std::string core_arguments(const collectives::Program& program, collectives::Rank rank,
                           collectives::Rank sender, collectives::InstructionId id);

/// Of a transfer between two chips of the machine. `synchronisation_s`: part of the time that it holds its
/// links. `shared`: others may pass on its links.
std::string transfer_arguments(const collectives::Program& program, const sim::Machine& machine,
                               const sim::TransferEvent& transfer, double synchronisation_s,
                               bool shared);

}  // namespace equarx::trace
