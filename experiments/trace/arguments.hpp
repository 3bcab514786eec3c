// Arguments of trace events, as JSON objects.
#pragma once

#include <string>
#include <string_view>

#include "sim/machine.hpp"
#include "sim/time_executor.hpp"

namespace equarx::trace {

/// Content of a message: "payload", "scales" or "amax".
std::string_view content_name(const collectives::Program& program, collectives::MessageId id);

/// Arguments of an instruction of a rank's core. `sender`: sender of the message of a wait or send.
/// Shards are named by the rank that owns them.
std::string core_arguments(const collectives::Program& program, collectives::Rank rank,
                           collectives::Rank sender, collectives::InstructionId id);

/// Arguments of a transfer between two chips of the machine. `synchronisation_s`: part of the time
/// for which it holds its links. `shared`: its links also carry other transfers at the same time.
std::string transfer_arguments(const collectives::Program& program, const sim::Machine& machine,
                               const sim::TransferEvent& transfer, double synchronisation_s,
                               bool shared);

}  // namespace equarx::trace
