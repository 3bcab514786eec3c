#include "models/collectives/contributions.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/collectives/validate.hpp"

namespace equarx::collectives {
namespace {

/// Interned sums: how often each rank's input is a term.
class Sums {
 public:
  using Id = std::uint32_t;

  /// The input of a rank; its id is its number.
  explicit Sums(std::uint32_t ranks) {
    for (Rank rank = 0; rank < ranks; ++rank) {
      Counts counts(ranks);
      counts[rank] = 1;
      intern(std::move(counts));
    }
  }

  Id add(Id one, Id other) {
    const auto [found, is_new] = added_.emplace(std::minmax(one, other), 0);
    if (!is_new) return found->second;
    Counts counts = by_id_[one];
    for (Rank rank = 0; rank < counts.size(); ++rank) counts[rank] += by_id_[other][rank];
    return found->second = intern(std::move(counts));
  }

  const std::vector<std::uint32_t>& terms(Id sum) const { return by_id_[sum]; }

 private:
  using Counts = std::vector<std::uint32_t>;

  Id intern(Counts counts) {
    const auto [found, is_new] = ids_.emplace(std::move(counts), static_cast<Id>(by_id_.size()));
    if (is_new) by_id_.push_back(found->first);
    return found->second;
  }

  std::map<Counts, Id> ids_;
  std::vector<Counts> by_id_;
  std::map<std::pair<Id, Id>, Id> added_;
};

constexpr Sums::Id kNothing = ~Sums::Id{0};

/// The program, executed on all ranks in lockstep with sets of inputs in place of values.
class Follower {
 public:
  explicit Follower(const Program& program) : program_(program), sums_(program.ranks()) {
    find_atoms();
    for (Rank rank = 0; rank < program.ranks(); ++rank) values_.emplace_back(starts_.size(), rank);
    results_.assign(program.ranks(), Atoms(starts_.size(), kNothing));
    written_at_.assign(program.ranks(), std::vector<std::size_t>(starts_.size()));
    buffers_.resize(program.buffers.size());
  }

  void run() {
    for (at_ = 0; at_ < program_.instructions.size(); ++at_) {
      const Instruction& instruction = program_.instructions[at_];
      const Rank last = std::min(instruction.ranks.last, program_.ranks() - 1);
      for (Rank rank = instruction.ranks.first; rank <= last; ++rank) execute(instruction, rank);
    }
    for (Rank rank = 0; rank < program_.ranks(); ++rank) check_result(rank);
  }

 private:
  using Atoms = std::vector<Sums::Id>;  ///< by atom
  struct AtomRange {
    std::size_t begin = 0;
    std::size_t end = 0;
  };

  const Partition& partition() const { return program_.partition; }
  const RankGrid& grid() const { return program_.grid(); }

  /// Elements of a tile of a rank, in the padded tensor.
  Range elements(const Tile& tile, Rank rank) const {
    const Rank owner = grid().move(rank, tile.shard_offset);
    const std::uint64_t begin = partition().segment_begin(tile.segment) +
                                partition().chunk_begin(tile.segment, tile.uncut, owner);
    const Range range = partition().microshard(tile);
    return {begin + range.begin, begin + range.end};
  }

  /// Cuts the tensor at all borders of tiles.
  void find_atoms() {
    std::set<std::uint64_t> borders;
    std::set<std::vector<std::uint32_t>> seen;
    for (const Instruction& instruction : program_.instructions) {
      if (is_transfer(instruction.op)) continue;
      const Tile& tile = instruction.tile;
      if (!seen.insert({tile.segment, tile.uncut, tile.minishard, tile.microshard}).second)
        continue;
      for (Rank rank = 0; rank < program_.ranks(); ++rank) {
        const Range range = elements(tile, rank);
        borders.insert(range.begin);
        borders.insert(range.end);
      }
    }
    starts_.assign(borders.begin(), borders.end());
  }

  AtomRange atoms(const Tile& tile, Rank rank) const {
    const Range range = elements(tile, rank);
    const auto index = [&](std::uint64_t element) {
      return static_cast<std::size_t>(std::ranges::lower_bound(starts_, element) - starts_.begin());
    };
    return {index(range.begin), index(range.end)};
  }

  void execute(const Instruction& instruction, Rank rank) {
    switch (instruction.op) {
      case Op::quantize:
      case Op::lend: return write(instruction, rank);
      case Op::accumulate:
      case Op::add: return read(instruction, rank, values_[rank], true);
      case Op::decode: return read(instruction, rank, values_[rank], false);
      case Op::deliver:
      case Op::dequantize:
        if (moves()) return check_moved(instruction, rank);
        note_result(instruction, rank);
        return read(instruction, rank, results_[rank], false);
      case Op::reduce: return reduce(instruction, rank);
      case Op::reduce_shards: return reduce_shards(instruction, rank);
      case Op::switch_reduce:
        return partition().segment(instruction.tile.segment).axes.empty()
                   ? reduce(instruction, rank)
                   : reduce_shards(instruction, rank);
      case Op::store: return store(instruction, rank);
      default: return;
    }
  }

  void write(const Instruction& instruction, Rank rank) {
    std::vector<Atoms>& buffer = buffers_[instruction.buffer];
    buffer.resize(program_.ranks());
    const AtomRange range = atoms(instruction.tile, rank);
    const auto begin = values_[rank].begin();
    buffer[rank].assign(begin + static_cast<std::ptrdiff_t>(range.begin),
                        begin + static_cast<std::ptrdiff_t>(range.end));
  }

  const Atoms& content(BufferId buffer, Rank writer) const {
    const std::vector<Atoms>& by_rank = buffers_[buffer];
    if (by_rank.empty() || by_rank[writer].empty())
      fail(fmt::format("rank {} has not written the buffer yet", writer));
    return by_rank[writer];
  }

  /// Reads the buffers of all ranks of the origin, each into the tile of its writer.
  void read(const Instruction& instruction, Rank rank, Atoms& into, bool adds) {
    const Rank first = program_.writer_of(instruction.origin, rank);
    for (const Offset offset : grid().offsets(instruction.origin.gathered)) {
      const Rank writer = grid().move(first, offset);
      const Atoms& terms = content(instruction.buffer, writer);
      const AtomRange range = atoms(program_.buffers[instruction.buffer].tile, writer);
      for (std::size_t i = 0; i < terms.size(); ++i) {
        Sums::Id& sum = into[range.begin + i];
        sum = adds ? sums_.add(sum, terms[i]) : terms[i];
      }
    }
  }

  /// Sets the values of a tile to the sum of what several ranks have written.
  void sum_over(const Instruction& instruction, Rank rank,
                const std::vector<std::pair<BufferId, Rank>>& written) {
    const AtomRange range = atoms(instruction.tile, rank);
    for (std::size_t atom = range.begin; atom < range.end; ++atom) {
      Sums::Id sum = kNothing;
      for (const auto& [buffer, writer] : written) {
        const Sums::Id term = content(buffer, writer).at(atom - range.begin);
        sum = sum == kNothing ? term : sums_.add(sum, term);
      }
      values_[rank][atom] = sum;
    }
  }

  void reduce(const Instruction& instruction, Rank rank) {
    std::vector<std::pair<BufferId, Rank>> written;
    for (const Offset offset : grid().offsets(instruction.origin.gathered))
      written.emplace_back(instruction.buffer, grid().move(rank, offset));
    sum_over(instruction, rank, written);
  }

  /// Every sibling is from the rank that wrote it for this one.
  void reduce_shards(const Instruction& instruction, Rank rank) {
    const AxisSet axes = instruction.origin.gathered;
    const std::vector<BufferId> buffers = siblings(program_, instruction.buffer, axes);
    const std::vector<Offset> offsets = grid().offsets(axes);
    std::vector<std::pair<BufferId, Rank>> written;
    for (std::size_t i = 0; i < buffers.size(); ++i)
      written.emplace_back(buffers[i], grid().move(rank, grid().reverse(offsets[i])));
    sum_over(instruction, rank, written);
  }

  bool moves() const { return program_.collective == Collective::all_to_all; }

  /// Checks a part of the result of an AllToAll, which is from its origin.
  void check_moved(const Instruction& instruction, Rank rank) const {
    const Rank writer = program_.writer_of(instruction.origin, rank);
    for (const Sums::Id term : content(instruction.buffer, writer))
      if (term != writer)
        fail(fmt::format("rank {} receives values other than the input of rank {}", rank, writer));
    check_own_shard(instruction.tile, rank);
  }

  void check_own_shard(const Tile& tile, Rank rank) const {
    if (grid().move(rank, tile.shard_offset) != rank)
      fail(fmt::format("rank {} receives the shard of rank {}", rank,
                       grid().move(rank, tile.shard_offset)));
  }

  /// Notes which instruction writes the atoms of a result.
  void note_result(const Instruction& instruction, Rank rank) {
    for (const Offset offset : grid().offsets(instruction.origin.gathered)) {
      Tile tile = instruction.tile;
      tile.shard_offset = grid().move(tile.shard_offset, offset);
      const AtomRange range = atoms(tile, rank);
      for (std::size_t atom = range.begin; atom < range.end; ++atom) written_at_[rank][atom] = at_;
    }
  }

  void store(const Instruction& instruction, Rank rank) {
    if (moves()) check_own_shard(instruction.tile, rank);
    note_result(instruction, rank);
    const AtomRange range = atoms(instruction.tile, rank);
    for (std::size_t atom = range.begin; atom < range.end; ++atom)
      results_[rank][atom] = values_[rank][atom];
  }

  void check_result(Rank rank) {
    for (std::size_t atom = 0; atom + 1 < starts_.size(); ++atom) {
      const Sums::Id sum = results_[rank][atom];
      if (sum == kNothing) continue;  // padding, or another rank's shard; validate() counts them
      for (Rank term = 0; term < program_.ranks(); ++term) {
        const std::uint32_t found = sums_.terms(sum)[term];
        const std::uint32_t wanted = moves() ? rank == term
                                     : program_.collective == Collective::all_gather
                                         ? owner_of(atom) == term
                                         : 1;
        at_ = written_at_[rank][atom];
        if (found != wanted)
          fail(
              fmt::format("the result of rank {} contains the input of rank {} {} instead of {} "
                          "(elements from {})",
                          rank, term, times(found), times(wanted), starts_[atom]));
      }
    }
  }

  static std::string times(std::uint32_t count) {
    return count == 0 ? "not at all" : count == 1 ? "once" : fmt::format("{} times", count);
  }

  /// Owner of the shard with an atom.
  Rank owner_of(std::size_t atom) const {
    for (std::uint32_t segment = 0; segment < partition().segments(); ++segment) {
      const std::uint64_t begin = partition().segment_begin(segment);
      if (starts_[atom] < begin || starts_[atom] >= begin + partition().segment_elements(segment))
        continue;
      for (Rank rank = 0; rank < program_.ranks(); ++rank) {
        const std::uint64_t from = begin + partition().chunk_begin(segment, 0, rank);
        if (starts_[atom] >= from && starts_[atom] < from + partition().chunk_elements(segment))
          return rank;
      }
    }
    return program_.ranks();
  }

  [[noreturn]] void fail(std::string_view why) const { throw InvalidProgram(program_, at_, why); }

  const Program& program_;
  Sums sums_;
  std::vector<std::uint64_t> starts_;  ///< of atoms, in the padded tensor; the last is its end
  std::vector<Atoms> values_;          ///< by rank
  std::vector<Atoms> results_;         ///< by rank
  std::vector<std::vector<std::size_t>> written_at_;  ///< by rank and atom: instruction
  std::vector<std::vector<Atoms>> buffers_;           ///< by buffer and rank
  std::size_t at_ = 0;
};

bool is_followed(const Program& program) {
  const bool followed = program.collective == Collective::all_reduce ||
                        program.collective == Collective::reduce_scatter ||
                        program.collective == Collective::all_gather ||
                        program.collective == Collective::all_to_all;
  double reads = 0.0;
  for (const Instruction& instruction : program.instructions)
    reads += program.grid().span(instruction.origin.gathered);
  return followed && reads * program.ranks() <= kMostFollowed;
}

}  // namespace

void check_contributions(const Program& program) {
  if (is_followed(program)) Follower(program).run();
}

}  // namespace equarx::collectives
