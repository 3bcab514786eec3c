// memory_bytes() against the actual allocations of execute().
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

#include "models/collectives/broadcast_program.hpp"
#include "models/collectives/exchange_program.hpp"
#include "models/values/lanes.hpp"
#include "models/values/value_executor.hpp"
#include "tests/catch.hpp"
#include "tests/support/rings.hpp"

namespace equarx::value_executor_memory_test {
namespace {

std::atomic<std::size_t> live_bytes = 0;
std::atomic<std::size_t> peak_bytes = 0;

void count_allocated(std::size_t size) {
  const std::size_t live = live_bytes += size;
  std::size_t peak = peak_bytes;
  while (live > peak && !peak_bytes.compare_exchange_weak(peak, live)) {
  }
}

// Every allocation stores its size in a header that preserves alignment.
void* allocate(std::size_t size, std::size_t alignment) {
  const std::size_t whole = (size + 2 * alignment - 1) / alignment * alignment;
  void* const block = std::aligned_alloc(alignment, whole);
  if (block == nullptr) throw std::bad_alloc();
  *static_cast<std::size_t*>(block) = size;
  count_allocated(size);
  return static_cast<char*>(block) + alignment;
}

void release(void* memory, std::size_t alignment) {
  if (memory == nullptr) return;
  void* const block = static_cast<char*>(memory) - alignment;
  live_bytes -= *static_cast<std::size_t*>(block);
  std::free(block);
}

constexpr std::size_t kUsual = alignof(std::max_align_t);

}  // namespace
}  // namespace equarx::value_executor_memory_test

// Replacements of the global functions, for the whole program.
namespace memory_test = equarx::value_executor_memory_test;

void* operator new(std::size_t size) { return memory_test::allocate(size, memory_test::kUsual); }

void* operator new(std::size_t size, std::align_val_t alignment) {
  return memory_test::allocate(size, static_cast<std::size_t>(alignment));
}

void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  try {
    return operator new(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void operator delete(void* memory) noexcept { memory_test::release(memory, memory_test::kUsual); }

void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }

void operator delete(void* memory, std::align_val_t alignment) noexcept {
  memory_test::release(memory, static_cast<std::size_t>(alignment));
}

void operator delete(void* memory, std::size_t, std::align_val_t alignment) noexcept {
  operator delete(memory, alignment);
}

namespace equarx::value_executor_memory_test {
namespace {

using namespace equarx::values;
using namespace equarx::collectives;
using namespace equarx::testing;
using equarx::numerics::BlockFormat;
using equarx::numerics::ElementFormat;

void check_memory(const Program& program, unsigned threads) {
  const std::uint64_t elements = program.partition.elements();
  const TensorSource source(equarx::numerics::InputSpec{.seed = 16}, elements, ElementFormat::bf16);
  const std::size_t before = live_bytes;
  peak_bytes = before;
  execute(program, source, {.threads = threads});
  const std::size_t after = live_bytes;
  const auto used = static_cast<double>(peak_bytes - before);
  const auto promised = static_cast<double>(memory_bytes(program, threads));
  // Tolerance for small tables (instructions, buffers) and for unused capacity from pieces of
  // unequal size.
  CHECK(used < 1.05 * promised + 100e3);
  CHECK(used > 0.7 * promised);
  CHECK(after == before);
}

void check_memory(std::uint32_t ranks, std::uint64_t elements, const RingOptions& options,
                  unsigned threads) {
  CAPTURE(ranks, elements, name(options.style), options.cut.minishards.value(),
          options.cut.microshards.value(), threads);
  check_memory(make_ring_all_reduce(ranks, elements, ElementFormat::bf16, options), threads);
}

}  // namespace

TEST_CASE("execute() allocates memory_bytes() and frees it") {
  for (const RingStyle style : kStyles)
    for (const Quantized phases : kQuantized) {
      check_memory(8, 3'000'001, ring(style, phases, int8_strided(), 2, 4), 1);
      check_memory(4, 1'000'003, ring(style, phases, int8_blocks(8), 1, 2), 1);
      check_memory(4, 1'000'003, ring(style, phases, int8_blocks(1), 3, 2), 1);
    }
}

TEST_CASE("large units take memory for the values in use") {
  const std::uint64_t elements = 24'000'000;
  for (const RingStyle style : kStyles) {
    BlockFormat format = int8_strided();
    format.rounding = equarx::numerics::Rounding::stochastic;  // has no columns
    const RingOptions options = ring(style, {true, true}, format, 1, 4);
    check_memory(8, elements, options, 1);
    check_memory(8, elements, ring(style, {true, true}, int8_strided(), 1, 4), 1);
    const Program program = make_ring_all_reduce(8, elements, ElementFormat::bf16, options);
    const LaneTable table(program);
    const std::uint64_t lane = table.lanes().front().range.size();
    CHECK(memory_bytes(program, 1) < lane * 6 * sizeof(float));
  }
}

TEST_CASE("each thread takes the same memory, up to one thread per unit") {
  const RingOptions options = ring(RingStyle::full_loop, {true, true}, int8_strided(), 1, 2);
  check_memory(2, 2'000'000, options, 2);
  const Program program = make_ring_all_reduce(2, 2'000'000, ElementFormat::bf16, options);
  REQUIRE(memory_bytes(program, 2) > 1.9 * memory_bytes(program, 1));
  REQUIRE(memory_bytes(program, 4) == memory_bytes(program, 1000));
}

TEST_CASE("collectives on tori take the predicted memory") {
  for (const Collective collective :
       {Collective::all_reduce, Collective::reduce_scatter, Collective::all_gather})
    for (const RingStyle style : kStyles)
      for (const Quantized phases : {Quantized{true, true}, Quantized{false, false}}) {
        RingOptions options = ring(style, phases, int8_strided(), 2, 2);
        options.collective = collective;
        CAPTURE(name(collective), name(style), phases.reduce_scatter);
        for (const std::vector<std::uint32_t>& lengths :
             {std::vector<std::uint32_t>{4, 4}, {2, 4}, {2, 2, 4}})
          check_memory(
              make_ring_program(RankGrid(lengths), 2'000'003, ElementFormat::bf16, options), 1);
      }
}

TEST_CASE("exchanges and broadcasts take the predicted memory") {
  for (const BlockFormat& format : {int8_strided(), plain(ElementFormat::bf16)}) {
    const ExchangeOptions options{format, format, {.minishards = 2, .microshards = 2}};
    for (const Collective collective : {Collective::all_reduce, Collective::reduce_scatter,
                                        Collective::all_gather, Collective::all_to_all}) {
      CAPTURE(name(collective), format.scaled);
      check_memory(make_direct_exchange(collective, 8, 2'000'003, ElementFormat::bf16, options), 1);
    }
    CAPTURE(format.scaled);
    check_memory(make_one_shot_all_reduce(8, 500'003, ElementFormat::bf16, options), 1);
    check_memory(
        make_recursive_doubling(RankGrid({2, 2, 2}), 500'003, ElementFormat::bf16, options), 1);
    for (const RingStyle style : kStyles)
      check_memory(
          make_ring_broadcast(8, 2'000'003, ElementFormat::bf16, {style, format, options.cut}), 1);
  }
}

}  // namespace equarx::value_executor_memory_test
