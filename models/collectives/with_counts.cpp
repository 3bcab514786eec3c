#include "models/collectives/with_counts.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace equarx::collectives {
namespace {

/// True for the operations of an exchange of shards.
bool is_supported(Op op) {
  switch (op) {
    case Op::find_scales:
    case Op::encode_scales:
    case Op::quantize:
    case Op::lend:
    case Op::dequantize:
    case Op::deliver:
    case Op::send:
    case Op::wait: return true;
    default: return false;
  }
}

}  // namespace

Program with_counts(Program program, RowCounts counts) {
  if (program.collective != Collective::all_to_all)
    throw std::invalid_argument("row counts are for an AllToAll");
  if (program.cast_from)
    throw std::invalid_argument(
        "a scale shared by all ranks is not supported with row counts; use a format with scales of "
        "its own");
  if (!std::ranges::all_of(program.instructions, is_supported, &Instruction::op))
    throw std::invalid_argument("the algorithm does not support row counts; use 'direct'");
  const std::size_t pairs = std::size_t{program.ranks()} * program.ranks();
  if (counts.rows.size() != pairs)
    throw std::invalid_argument(fmt::format("{} row counts for {} pairs of {} ranks",
                                            counts.rows.size(), pairs, program.ranks()));
  const std::uint64_t largest = counts.row_elements * most_rows(counts);
  if (largest == 0 || largest > program.partition.chunk_elements(0))
    throw std::invalid_argument(
        fmt::format("the largest row count takes {} elements, and a shard has {}", largest,
                    program.partition.chunk_elements(0)));
  for (std::size_t pair = 0; pair < counts.first_rows.size(); ++pair)
    if (counts.first_rows.size() != pairs || counts.first_rows[pair] > counts.rows[pair])
      throw std::invalid_argument("first rows are a part of the rows of each pair");
  program.counts = std::move(counts);
  return program;
}

}  // namespace equarx::collectives
