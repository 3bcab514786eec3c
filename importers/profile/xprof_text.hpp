// Collectives in the HLO text of XProf's events.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "importers/hlo/opcodes.hpp"
#include "importers/profile/profile.hpp"

namespace equarx::profile {

/// An instruction as text: "%all-reduce.3 = bf16[8,512]{1,0} all-reduce(%x), replica_groups={{0,1}}".
struct HloText {
  std::string name;  ///< without "%"
  std::string opcode;
  std::string type;     ///< element type of the data
  double bytes = 0.0;   ///< of the result of a collective, without the input that a start repeats
  std::string operand;  ///< name of the last operand; may be empty
  std::string groups;   ///< value of replica_groups or source_target_pairs
  bool has_channel = false;
  bool has_global_ids = false;
  std::string to_apply;  ///< name of the reduction
};

/// Parses the text of an instruction; std::nullopt for other or truncated text.
std::optional<HloText> read_hlo_text(std::string_view text);

/// True if the opcode, without "-start" or "-done", is a collective.
bool is_collective(const HloText& text);

/// Smallest number of chips that has all those in the groups; 0 if they name none.
std::uint64_t least_chips(const HloText& text);

/// Describes the collective of a run on `chips` chips. Calls that cannot be simulated have an
/// `obstacle`.
Call xprof_call(const HloText& text, std::uint32_t chips);

}  // namespace equarx::profile
