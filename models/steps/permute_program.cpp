#include "models/steps/permute_program.hpp"

#include <numeric>

namespace equarx::steps {
namespace {

using collectives::Op;
using collectives::Program;
using collectives::Rank;
using collectives::RankGrid;

/// Chips by role.
struct ChipsByRole {
  std::vector<Rank> only_send;
  std::vector<Rank> both;
  std::vector<Rank> only_receive;
  std::vector<Rank> none;
};

ChipsByRole roles_of(const std::vector<std::uint32_t>& peer_of_chip) {
  std::vector<bool> receives(peer_of_chip.size());
  for (Rank chip = 0; chip < peer_of_chip.size(); ++chip)
    if (peer_of_chip[chip] != chip) receives[peer_of_chip[chip]] = true;
  ChipsByRole roles;
  for (Rank chip = 0; chip < peer_of_chip.size(); ++chip) {
    const bool sends = peer_of_chip[chip] != chip;
    std::vector<Rank>& role = sends ? (receives[chip] ? roles.both : roles.only_send)
                                    : (receives[chip] ? roles.only_receive : roles.none);
    role.push_back(chip);
  }
  return roles;
}

Program program_of(const ChipsByRole& roles, std::uint32_t chips, std::uint64_t bytes) {
  // The partition only provides the number of ranks.
  Program program{.collective = collectives::Collective::all_to_all,
                  .partition = {chips, RankGrid({chips}), {{.axes = {}, .cuts = {{1, 1}}}}},
                  .tensor_format = numerics::ElementFormat::fp8_e4m3,
                  .formats = {},
                  .channels = {{1, "permute"}},
                  .buffers = {{.bytes = bytes}},
                  .messages = {{}},
                  .instructions = {}};
  const auto senders = static_cast<Rank>(roles.only_send.size() + roles.both.size());
  const auto first_receiver = static_cast<Rank>(roles.only_send.size());
  const auto receivers = static_cast<Rank>(roles.both.size() + roles.only_receive.size());
  program.instructions.push_back({.op = Op::send, .ranks = {0, senders - 1}});
  program.instructions.push_back(
      {.op = Op::wait, .ranks = {first_receiver, first_receiver + receivers - 1}});
  return program;
}

}  // namespace

PermuteProgram permute_program(const std::vector<std::vector<std::uint32_t>>& pairs,
                               std::uint32_t chips, std::uint64_t bytes) {
  std::vector<std::uint32_t> peers(chips);
  std::iota(peers.begin(), peers.end(), 0U);
  for (const std::vector<std::uint32_t>& pair : pairs) peers[pair[0]] = pair[1];
  const ChipsByRole roles = roles_of(peers);
  PermuteProgram result{.program = program_of(roles, chips, bytes),
                        .rank_of_chip = std::vector<Rank>(chips),
                        .peer_of_chip = std::move(peers)};
  Rank next = 0;
  for (const std::vector<Rank>* role :
       {&roles.only_send, &roles.both, &roles.only_receive, &roles.none})
    for (const Rank chip : *role) result.rank_of_chip[chip] = next++;
  return result;
}

}  // namespace equarx::steps
