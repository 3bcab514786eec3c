#include "models/steps/permute_program.hpp"

#include <numeric>

namespace equarx::steps {
namespace {

using collectives::Op;
using collectives::Program;
using collectives::Rank;
using collectives::RankGrid;

/// Who takes which part.
struct Parts {
  std::vector<Rank> only_send;
  std::vector<Rank> both;
  std::vector<Rank> only_receive;
  std::vector<Rank> none;
};

Parts parts_of(const std::vector<std::uint32_t>& peer_of_chip) {
  std::vector<bool> receives(peer_of_chip.size());
  for (Rank chip = 0; chip < peer_of_chip.size(); ++chip)
    if (peer_of_chip[chip] != chip) receives[peer_of_chip[chip]] = true;
  Parts parts;
  for (Rank chip = 0; chip < peer_of_chip.size(); ++chip) {
    const bool sends = peer_of_chip[chip] != chip;
    std::vector<Rank>& of_chip = sends ? (receives[chip] ? parts.both : parts.only_send)
                                       : (receives[chip] ? parts.only_receive : parts.none);
    of_chip.push_back(chip);
  }
  return parts;
}

Program program_of(const Parts& parts, std::uint32_t chips, std::uint64_t bytes) {
  // The partition says how many ranks there are; nothing else of it is used.
  Program program{.collective = collectives::Collective::all_to_all,
                  .partition = {chips, RankGrid({chips}), {{.axes = {}, .cuts = {{1, 1}}}}},
                  .tensor_format = numerics::ElementFormat::fp8_e4m3,
                  .formats = {},
                  .channels = {{1, "permute"}},
                  .buffers = {{.bytes = bytes}},
                  .messages = {{}},
                  .instructions = {}};
  const auto senders = static_cast<Rank>(parts.only_send.size() + parts.both.size());
  const auto first_receiver = static_cast<Rank>(parts.only_send.size());
  const auto receivers = static_cast<Rank>(parts.both.size() + parts.only_receive.size());
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
  const Parts parts = parts_of(peers);
  PermuteProgram made{.program = program_of(parts, chips, bytes),
                      .rank_of_chip = std::vector<Rank>(chips),
                      .peer_of_chip = std::move(peers)};
  Rank next = 0;
  for (const std::vector<Rank>* part :
       {&parts.only_send, &parts.both, &parts.only_receive, &parts.none})
    for (const Rank chip : *part) made.rank_of_chip[chip] = next++;
  return made;
}

}  // namespace equarx::steps
