// AllReduces by codes of a sign and an exponent, whose sums draw random bits: compared with a slow
// reference with the same order of sums, and with theory.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "tests/models/values/shared_scales.hpp"
#include "tests/support/reference_exponents.hpp"

namespace equarx::values::value_executor_exponents_test {
namespace {

namespace slow = testing::exponents;
using collectives::Instruction;
using collectives::Op;
using collectives::Program;
using collectives::Rank;
using testing::amax_of;
using testing::compute;
using testing::Computed;
using testing::inputs;
using testing::program_of;
using testing::Tensors;

constexpr numerics::BlockFormat kExp8{.element = numerics::ElementFormat::exp8,
                                      .rule = numerics::ScaleRule::global_qsgd};
constexpr std::uint64_t kSeed = 17;

float scale_of(const Tensors& tensors) {
  return amax_of(tensors) * (2.0F * static_cast<float>(tensors.size()));
}

/// Cast inputs, by rank and element.
std::vector<std::vector<int>> cast(const Tensors& tensors) {
  constexpr std::uint32_t kCastHop = 0xFFFFFFFEU;
  std::vector<std::vector<int>> codes;
  for (std::uint32_t rank = 0; rank < tensors.size(); ++rank) {
    auto& row = codes.emplace_back();
    for (std::size_t i = 0; i < tensors[rank].size(); ++i)
      row.push_back(slow::encode(tensors[rank][i] / scale_of(tensors),
                                 slow::word_of({.seed = kSeed, .rank = rank, .hop = kCastHop}, i)));
  }
  return codes;
}

/// Random number of a rank's sum.
std::uint32_t word_of(const Program& program, std::size_t instruction, Rank rank, std::size_t i) {
  const auto hop = static_cast<std::uint32_t>(program.buffers.size() + instruction);
  return slow::word_of({.seed = kSeed, .rank = rank, .hop = hop}, i);
}

/// Position of a rank's tile in the tensor.
collectives::Range range_of(const Program& program, const collectives::Tile& tile, Rank rank) {
  const collectives::Partition& partition = program.partition;
  const std::uint64_t chunk =
      partition.segment_begin(tile.segment) +
      partition.chunk_begin(tile.segment, tile.uncut, program.grid().move(rank, tile.shard_offset));
  const collectives::Range range = partition.microshard(tile);
  return {chunk + range.begin, chunk + range.end};
}

/// Sums code by code: the term added last, by element.
std::vector<int> add_in_order(const Program& program, std::vector<std::vector<int>> codes) {
  const std::size_t elements = codes.front().size();
  for (auto& row : codes) row.resize(elements + 4096);  // padding
  std::map<std::pair<collectives::BufferId, Rank>, std::vector<int>> sent;
  std::vector<int> last(elements);
  for (std::size_t id = 0; id < program.instructions.size(); ++id) {
    const Instruction& instruction = program.instructions[id];
    if (instruction.op != Op::lend && instruction.op != Op::add) continue;
    for (Rank rank = 0; rank < program.ranks(); ++rank) {
      if (!instruction.ranks.contains(rank)) continue;
      const collectives::Range range = range_of(program, instruction.tile, rank);
      if (instruction.op == Op::lend) {
        sent[{instruction.buffer, rank}].assign(
            codes[rank].begin() + static_cast<std::ptrdiff_t>(range.begin),
            codes[rank].begin() + static_cast<std::ptrdiff_t>(range.end));
        continue;
      }
      const Rank maker = program.grid().move(rank, instruction.origin.offset);
      const std::vector<int>& terms = sent.at({instruction.buffer, maker});
      for (std::uint64_t i = range.begin; i < range.end; ++i) {
        int& sum = codes[rank][i];
        sum = slow::sum(sum, terms[i - range.begin], word_of(program, id, rank, i));
        if (i < elements) last[i] = sum;
      }
    }
  }
  return last;
}

void check_codes(const Computed& computed, const std::vector<int>& codes, float scale) {
  for (std::size_t i = 0; i < codes.size(); ++i)
    REQUIRE(computed.result[i] == static_cast<float>(slow::value_of(codes[i])) * scale);
}

/// Index of a tree's addition of another rank's term at a rank.
std::size_t sum_at(const Program& program, Rank rank, Rank maker) {
  for (std::size_t id = 0; id < program.instructions.size(); ++id) {
    const Instruction& one = program.instructions[id];
    if (one.op == Op::add && one.ranks.contains(rank) &&
        program.grid().move(rank, one.origin.offset) == maker)
      return id;
  }
  FAIL("no such sum");
  return 0;
}

TEST_CASE("exp8 up a binomial tree ends with the codes of Global-QSGD's source code") {
  for (const std::uint32_t ranks : {2U, 4U, 8U}) {
    const Tensors tensors = inputs(ranks, 1500);
    const Program program = program_of("binomial-tree", kExp8, ranks, 1500);
    std::vector<std::vector<int>> codes = cast(tensors);
    for (std::uint32_t half = ranks / 2; half > 0; half /= 2)
      for (Rank rank = 0; rank < half; ++rank) {
        const std::size_t number = sum_at(program, rank, rank + half);
        for (std::size_t i = 0; i < 1500; ++i)
          codes[rank][i] =
              slow::sum(codes[rank][i], codes[rank + half][i], word_of(program, number, rank, i));
      }
    check_codes(compute(program, tensors, kSeed), codes[0], scale_of(tensors));
  }
}

TEST_CASE("exp8 ends with the reference codes in the order of any algorithm") {
  for (const std::string_view algorithm : {"ring", "torus", "halving-doubling", "binomial-tree"})
    for (const std::uint32_t ranks : {2U, 4U, 8U}) {
      CAPTURE(algorithm, ranks);
      const Tensors tensors = inputs(ranks, 3001);
      const Program program = program_of(algorithm, kExp8, ranks, 3001);
      check_codes(compute(program, tensors, kSeed), add_in_order(program, cast(tensors)),
                  scale_of(tensors));
    }
}

TEST_CASE("exp8 around a ring: a chunk passes every rank once, which adds it to its own") {
  constexpr std::uint32_t kRanks = 4;
  const Tensors tensors = inputs(kRanks, 4096);
  const Program program = program_of("ring", kExp8, kRanks, 4096);
  const std::vector<std::vector<int>> codes = cast(tensors);
  // Index of the addition, by element and rank; the rank where a chunk starts has none.
  std::vector<std::array<std::size_t, kRanks>> numbers(4096);
  std::vector<collectives::Offset> way(4096);
  for (std::size_t id = 0; id < program.instructions.size(); ++id) {
    if (program.instructions[id].op != Op::add) continue;
    for (Rank rank = 0; rank < kRanks; ++rank) {
      const collectives::Range range = range_of(program, program.instructions[id].tile, rank);
      for (std::uint64_t i = range.begin; i < range.end; ++i) {
        numbers[i][rank] = id;
        way[i] = kRanks - program.instructions[id].origin.offset;
      }
    }
  }
  std::vector<int> sums;
  for (std::size_t i = 0; i < 4096; ++i) {
    auto rank = static_cast<Rank>(std::ranges::find(numbers[i], 0U) - numbers[i].begin());
    REQUIRE(rank < kRanks);
    int sum = codes[rank][i];
    for (std::uint32_t step = 1; step < kRanks; ++step) {
      rank = (rank + way[i]) % kRanks;
      sum = slow::sum(codes[rank][i], sum, word_of(program, numbers[i][rank], rank, i));
    }
    sums.push_back(sum);
  }
  check_codes(compute(program, tensors, kSeed), sums, scale_of(tensors));
}

TEST_CASE("no two sums of exp8 draw the same random number") {
  // Components of a key: seed, rank, hop and element.
  for (const std::string_view algorithm : {"ring", "torus", "halving-doubling", "binomial-tree"}) {
    const Program program = program_of(algorithm, kExp8, 8, 3001);
    std::map<std::pair<std::size_t, Rank>, int> sums;
    std::uint64_t elements = 0;
    for (std::size_t id = 0; id < program.instructions.size(); ++id) {
      const Instruction& one = program.instructions[id];
      if (one.op != Op::add) continue;
      for (Rank rank = 0; rank < 8; ++rank) {
        if (!one.ranks.contains(rank)) continue;
        CHECK(++sums[{id, rank}] == 1);
        elements += range_of(program, one.tile, rank).size();
      }
    }
    CHECK(elements >= 7 * 3001);  // seven sums per element
    CHECK(program.buffers.size() + program.instructions.size() < 0xFFFFFFFEU);
  }
}

TEST_CASE("exp8's mean over seeds is the sum, and its error matches theory") {
  constexpr std::size_t kElements = 300;
  constexpr int kSeeds = 600;
  const Tensors tensors = inputs(4, kElements);
  const double scale = scale_of(tensors);
  const Program program = program_of("binomial-tree", kExp8, 4, kElements);
  std::vector<double> mean(kElements);
  double squares = 0.0;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    const Computed computed = compute(program, tensors, static_cast<std::uint64_t>(seed));
    CHECK(computed.values.quantized.clipped == 0);
    for (std::size_t i = 0; i < kElements; ++i) mean[i] += double{computed.result[i]} / kSeeds;
    squares += computed.values.against_exact.mse / kSeeds;
  }
  double theory = 0.0;
  for (std::size_t i = 0; i < kElements; ++i) {
    // All possible final codes of an element, with their probabilities.
    std::vector<slow::Codes> terms;
    double exact = 0.0;
    for (const auto& tensor : tensors) {
      terms.push_back(slow::encodings(tensor[i] / static_cast<float>(scale)));
      exact += double{tensor[i]};
    }
    const slow::Codes codes =
        slow::sums(slow::sums(terms[0], terms[2]), slow::sums(terms[1], terms[3]));
    double expected = 0.0;
    double variance = 0.0;
    for (const auto& [code, share] : codes) {
      const double error = slow::value_of(code) * scale - exact;
      expected += share * error;
      variance += share * error * error;
    }
    REQUIRE(std::fabs(expected) < 1e-6);
    REQUIRE(std::fabs(mean[i] - exact) < 5.0 * std::sqrt(variance / kSeeds));
    theory += variance / kElements;
  }
  CHECK(squares == Approx(theory).epsilon(0.02));
}

TEST_CASE("exp8's error of normal values grows with the number of sums, as in theory") {
  // Rounding v between a and 2 a has the variance (v - a)(2 a - v). If v is uniform on a
  // logarithmic scale, this is c of the mean square, which grows by it each time.
  const double c = 1.0 - 4.0 / 3.0 * std::log(2.0);
  for (const std::uint32_t ranks : {2U, 4U, 8U, 16U}) {
    double on_ring = 1.0 + c;  // mean square of the travelling sum
    for (std::uint32_t rank = 1; rank < ranks; ++rank) on_ring = (1.0 + c) * (on_ring + 1.0 + c);
    const double in_tree = std::pow(1.0 + c, 1.0 + std::log2(ranks));
    const Tensors tensors = inputs(ranks, 100'000);
    for (const auto& [algorithm, theory] :
         {std::pair{"ring", on_ring / ranks - 1.0}, std::pair{"binomial-tree", in_tree - 1.0}}) {
      CAPTURE(algorithm, ranks);
      const Computed computed = compute(program_of(algorithm, kExp8, ranks, 100'000), tensors);
      // On a long ring a term is small compared to the sum, a power of two, and so is the error.
      if (ranks < 16 || algorithm == std::string_view("binomial-tree"))
        CHECK(computed.values.against_exact.nmse == Approx(theory).epsilon(0.1));
      else
        CHECK(computed.values.against_exact.nmse < theory);
    }
  }
}

TEST_CASE("exp8 of the largest values everywhere: exact in a tree, out of range on a ring") {
  const Tensors same(8, std::vector<float>(4096, 3.0F));
  const Computed tree = compute(program_of("binomial-tree", kExp8, 8, 4096), same);
  CHECK(std::ranges::all_of(tree.result, [](float sum) { return sum == 24.0F; }));
  CHECK(tree.values.quantized.clipped == 0);
  const Computed ring = compute(program_of("ring", kExp8, 8, 4096), same);
  // From the probabilities of all codes after each of seven sums.
  CHECK(static_cast<double>(ring.values.quantized.clipped) / 4096 == Approx(0.154).epsilon(0.1));
}

TEST_CASE("exp8: tensors of zeros stay zeros, and NaN and Inf become NaN everywhere") {
  Tensors tensors(4, std::vector<float>(100));
  const Program program = program_of("ring", kExp8, 4, 100);
  CHECK(compute(program, tensors).result == tensors[0]);
  tensors[2][7] = std::numeric_limits<float>::infinity();
  const Computed wild = compute(program, tensors);
  CHECK(std::ranges::all_of(wild.result, [](float value) { return std::isnan(value); }));
}

TEST_CASE("exp8's random bits depend on the seed, not on threads") {
  const Tensors tensors = inputs(8, 20'000);
  const Program program = program_of("torus", kExp8, 8, 20'000);
  std::vector<tensors::MemoryTensor> memory;
  for (const auto& tensor : tensors)
    memory.emplace_back(tensors::FileType::fp32, std::as_bytes(std::span(tensor)));
  const TensorSource source(std::move(memory), 20'000, numerics::ElementFormat::fp32);
  const auto run = [&](unsigned threads, std::uint64_t seed) {
    std::vector<float> sums(20'000);
    ResultTensor result(numerics::ElementFormat::fp32, std::as_writable_bytes(std::span(sums)));
    execute(program, source, {.threads = threads, .result = &result, .rounding_seed = seed});
    return sums;
  };
  CHECK(run(1, 5) == run(3, 5));
  CHECK(run(1, 5) != run(1, 6));
}

}  // namespace
}  // namespace equarx::values::value_executor_exponents_test
