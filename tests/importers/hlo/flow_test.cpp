#include "importers/hlo/flow.hpp"

#include <cmath>

#include "importers/hlo/flow_totals.hpp"
#include "tests/catch.hpp"
#include "tests/importers/hlo/modules.hpp"
#include "tests/support/wrapped_check.hpp"

namespace equarx::hlo::flow_test {
namespace {

using Kind = FlowStep::Kind;

std::vector<Kind> kinds_of(const std::vector<FlowStep>& list) {
  std::vector<Kind> kinds;
  for (const FlowStep& step : list) kinds.push_back(step.kind);
  return kinds;
}

Flow flow(const std::string& lines, const std::string& before = "", const TripCounts& counts = {}) {
  return make_flow(testing::hlo_module(lines, before), counts);
}

const std::vector<FlowStep>& entry(const Flow& flow) { return flow.lists[flow.entry]; }

/// A loop body of these lines, which has %x, an f32[8].
std::string body(const std::string& lines) {
  return "%cond (c: f32[8]) -> pred[] {\n  %c = f32[8] parameter(0)\n  ROOT %t = pred[] "
         "constant(true)\n}\n"
         "%body (x: f32[8]) -> f32[8] {\n  %x = f32[8] parameter(0)\n" +
         lines + "}\n";
}
std::string loop(const std::string& count) {
  return "  %p = f32[8] parameter(0)\n  %w = f32[8] while(%p), condition=%cond, body=%body" +
         (count.empty() ? count
                        : ", backend_config={\"known_trip_count\":{\"n\":\"" + count + "\"}}") +
         "\n";
}

TEST_CASE("a pair starts and ends at its instructions, a synchronous collective at once") {
  const Flow made = flow(
      "  %p = f32[8] parameter(0)\n  %s = f32[8] all-reduce-start(%p), to_apply=%add\n"
      "  %n = f32[8] negate(%p)\n  %d = f32[8] all-reduce-done(%s)\n  %r = f32[8] all-reduce(%n), "
      "to_apply=%add\n");
  CHECK(kinds_of(entry(made)) ==
        std::vector{Kind::begin, Kind::work, Kind::end, Kind::begin, Kind::end});
  CHECK(made.ops.size() == 2);
  CHECK(made.notes.empty());
}

TEST_CASE("an end after updates and tuple elements is found, and a missing one is noted") {
  const Flow made = flow(
      "  %p = f32[8] parameter(0)\n  %s = ((f32[8]), f32[8]) async-start(%p), calls=%wrapped\n"
      "  %u = ((f32[8]), f32[8]) async-update(%s)\n  %n = f32[8] negate(%p)\n  %d = f32[8] "
      "async-done(%u)\n",
      "%wrapped (y: f32[8]) -> f32[8] {\n  %y = f32[8] parameter(0)\n  ROOT %a = f32[8] "
      "all-to-all(%y), replica_groups={}\n}\n");
  CHECK(kinds_of(entry(made)) == std::vector{Kind::begin, Kind::work, Kind::end});
  CHECK(entry(made)[1].cost.hbm_bytes == 64.0);  // without the bytes of the collective
  const Flow lost = flow(
      "  %p = f32[8] parameter(0)\n  %s = f32[8] all-reduce-start(%p), to_apply=%add\n  %n = "
      "f32[8] negate(%p)\n");
  CHECK(kinds_of(entry(lost)) == std::vector{Kind::begin, Kind::work, Kind::end});
  CHECK(lost.notes.size() == 1);
}

TEST_CASE("a loop with a collective is repeated, and one without is repeated work") {
  const Flow made = flow(loop("5"), body("  ROOT %r = f32[8] all-reduce(%x), to_apply=%add\n"));
  REQUIRE(kinds_of(entry(made)) == std::vector{Kind::repeat});
  CHECK(entry(made)[0].times == 5);
  CHECK(totals_of(made).times == std::vector{5.0});
  CHECK(totals_of(made).collective_bytes == 5 * 32.0);
  const Flow work = flow(loop("5"), body("  ROOT %r = f32[8] negate(%x)\n"));
  REQUIRE(kinds_of(entry(work)) == std::vector{Kind::work});
  CHECK(entry(work)[0].times == 5);
  CHECK(totals_of(work).cost.vector_ops == 40.0);
  CHECK(entry(flow(loop("0"), body("  ROOT %r = f32[8] negate(%x)\n"))).empty());
}

TEST_CASE("a loop without a known trip count needs one") {
  const std::string lines = body("  ROOT %r = f32[8] negate(%x)\n");
  CHECK_THROWS_WITH(flow(loop(""), lines), ContainsSubstring("unknown trip count of loop 'w'") &&
                                               ContainsSubstring("--trip-count w=COUNT"));
  CHECK(entry(flow(loop(""), lines, {.by_name = {}, .otherwise = 3}))[0].times == 3);
  CHECK(entry(flow(loop(""), lines, {.by_name = {{"w", 4}}, .otherwise = 3}))[0].times == 4);
  CHECK(entry(flow(loop("5"), lines, {.by_name = {{"w", 4}}, .otherwise = 3}))[0].times == 4);
  CHECK(entry(flow(loop("5"), lines, {.by_name = {}, .otherwise = 3}))[0].times == 5);
}

TEST_CASE("a conditional runs its most expensive branch") {
  const std::string branches =
      "%cheap (x: f32[8]) -> f32[8] {\n  %x = f32[8] parameter(0)\n  ROOT %n = f32[8] "
      "negate(%x)\n}\n"
      "%dear (y: f32[8]) -> f32[8] {\n  %y = f32[8] parameter(0)\n  %a = f32[8] abs(%y)\n  ROOT %m "
      "= f32[8] negate(%a)\n}\n"
      "%sends (z: f32[8]) -> f32[8] {\n  %z = f32[8] parameter(0)\n  ROOT %s = f32[8] "
      "all-reduce(%z), to_apply=%add\n}\n";
  const std::string choose =
      "  %p = f32[8] parameter(0)\n  %i = s32[] parameter(1)\n  %r = f32[8] conditional(%i, %p, "
      "%p), ";
  const Flow two = flow(choose + "branch_computations={%cheap, %dear}\n", branches);
  CHECK(totals_of(two).cost.vector_ops == 16.0);
  CHECK(two.notes.count("conditional: most expensive branch assumed") == 1);
  const Flow three = flow(choose + "branch_computations={%cheap, %dear, %sends}\n", branches);
  CHECK(totals_of(three).collective_bytes == 32.0);
}

TEST_CASE("an asynchronous copy overlaps with the next instruction") {
  const Flow made = flow(
      "  %p = f32[8] parameter(0)\n  %c = (f32[8]{0:S(1)}, f32[8]{0}, u32[]) copy-start(%p)\n"
      "  %n = f32[8] negate(%p)\n  %d = f32[8]{0:S(1)} copy-done(%c)\n  %m = f32[8] negate(%d)\n");
  REQUIRE(entry(made).size() == 2);
  CHECK(entry(made)[0].cost.hbm_bytes == 32.0 + 64.0);
  CHECK(entry(made)[1].cost.hbm_bytes == 32.0);
}

TEST_CASE("nested repeats do not grow without bound") {
  std::string chain =
      "%c0 (x: f32[8]) -> f32[8] {\n  %x = f32[8] parameter(0)\n  ROOT %n = f32[8] negate(%x)\n}\n";
  for (int i = 1; i <= 60; ++i) {
    const std::string before = "%c" + std::to_string(i - 1);
    chain +=
        "%c" + std::to_string(i) +
        " (x: f32[8]) -> f32[8] {\n  %x = f32[8] parameter(0)\n  %y = f32[8] call(%x), to_apply=" +
        before + "\n  ROOT %z = f32[8] call(%y), to_apply=" + before + "\n}\n";
  }
  const Flow made =
      flow("  %p = f32[8] parameter(0)\n  %r = f32[8] call(%p), to_apply=%c60\n", chain);
  CHECK(totals_of(made).cost.vector_ops == 8.0 * std::pow(2.0, 60.0));
}

// --- Collectives wherever they stand

/// A computation with these collectives of its parameter, all of them over 8 chips.
std::string holds(const std::string& name, const std::vector<std::string>& opcodes) {
  std::string text = "%" + name + " (x: f32[8]) -> f32[8] {\n  %x = f32[8] parameter(0)\n";
  for (std::size_t i = 0; i < opcodes.size(); ++i)
    text += "  %m" + std::to_string(i) + " = f32[8] " + opcodes[i] +
            "(%x), channel_id=1, replica_groups=[1,8]<=[8], use_global_device_ids=true, "
            "to_apply=%add\n";
  return text + "  ROOT %n." + name + " = f32[8] negate(%x)\n}\n";
}

/// A computation that only calls another one, by the text `call`.
std::string wraps(const std::string& name, const std::string& call) {
  return "%" + name + " (y: f32[8]) -> f32[8] {\n  %y = f32[8] parameter(0)\n  ROOT %r." + name +
         " = f32[8] " + call + "\n}\n";
}

std::vector<std::string> names_of(const Flow& flow) {
  std::vector<std::string> names;
  for (const CollectiveOp& op : flow.ops) names.push_back(op.name);
  return names;
}

TEST_CASE("collectives of a fusion run one after the other before its work") {
  const Flow made = flow("  %p = f32[8] parameter(0)\n  %r = f32[8] fusion(%p), calls=%f\n",
                         holds("f", {"all-reduce", "all-to-all"}));
  CHECK(kinds_of(entry(made)) ==
        std::vector{Kind::begin, Kind::end, Kind::begin, Kind::end, Kind::work});
  CHECK(names_of(made) == std::vector<std::string>{"r/m0", "r/m1"});
  CHECK(made.ops[0].waits);
  CHECK(totals_of(made).cost.vector_ops == 8.0);
  CHECK(made.notes.empty());
}

TEST_CASE("a collective of a nested fusion runs, named after the outermost") {
  const Flow made =
      flow("  %p = f32[8] parameter(0)\n  %r = f32[8] fusion(%p), calls=%outer\n",
           holds("inner", {"all-reduce"}) + wraps("outer", "fusion(%y), kind=kLoop, calls=%inner"));
  CHECK(kinds_of(entry(made)) == std::vector{Kind::begin, Kind::end, Kind::work});
  CHECK(names_of(made) == std::vector<std::string>{"r"});
}

TEST_CASE("an asynchronous computation begins all its collectives at once and waits for all") {
  const std::string start =
      "  %p = f32[8] parameter(0)\n  %s = ((f32[8]), f32[8], u32[]) async-start(%p), calls=%a\n";
  const std::string done = "  %n = f32[8] negate(%p)\n  %d = f32[8] async-done(%s)\n";
  const std::string two = holds("two", {"all-reduce", "all-to-all"});
  const std::vector both = {Kind::begin, Kind::begin, Kind::work, Kind::end, Kind::end};
  for (const std::string& in :
       {holds("a", {"all-reduce", "all-to-all"}), two + wraps("a", "fusion(%y), calls=%two"),
        two + wraps("a", "call(%y), to_apply=%two"),
        two +
            wraps("a", "custom-call(%y), custom_call_target=\"f\", called_computations={%two}")}) {
    const Flow made = flow(start + done, in);
    CHECK(kinds_of(entry(made)) == both);
    // The work of the computation overlaps with the instruction that follows.
    CHECK(entry(made)[2].cost.vector_ops == 16.0);
    CHECK_FALSE(made.ops[0].waits);
  }
  const Flow lost = flow(start, holds("a", {"all-reduce", "all-to-all"}));
  CHECK(kinds_of(entry(lost)) ==
        std::vector{Kind::begin, Kind::begin, Kind::work, Kind::end, Kind::end});
  CHECK(lost.notes.size() == 1);
}

TEST_CASE("an asynchronous loop begins its collectives in each iteration") {
  const Flow made = flow(
      "  %p = f32[8] parameter(0)\n  %s = ((f32[8]), f32[8], u32[]) async-start(%p), calls=%a\n"
      "  %d = f32[8] async-done(%s)\n",
      holds("body", {"all-reduce"}) + holds("cond", {"all-to-all"}) +
          wraps("a",
                "while(%y), condition=%cond, body=%body, "
                "backend_config={\"known_trip_count\":{\"n\":\"5\"}}"));
  CHECK(kinds_of(entry(made)) ==
        std::vector{Kind::repeat, Kind::repeat, Kind::end, Kind::end, Kind::work});
  CHECK(totals_of(made).times == std::vector{6.0, 5.0});
  CHECK(totals_of(made).cost.vector_ops == 5 * 8.0 + 6 * 8.0);
}

TEST_CASE("work of an asynchronous loop without collectives overlaps") {
  const Flow made = flow(
      "  %p = f32[8] parameter(0)\n  %s = ((f32[8]), f32[8], u32[]) async-start(%p), calls=%a\n"
      "  %d = f32[8] async-done(%s)\n",
      holds("body", {}) + wraps("a",
                                "while(%y), condition=%body, body=%body, "
                                "backend_config={\"known_trip_count\":{\"n\":\"5\"}}"));
  CHECK(totals_of(made).cost.vector_ops == 40.0);
}

TEST_CASE("a custom-call runs the computations that it names if they hold collectives") {
  const std::string call =
      "  %p = f32[8] parameter(0)\n  %r = f32[8] custom-call(%p), custom_call_target=\"f\", "
      "called_computations={%c}\n";
  const Flow made = flow(call, holds("c", {"all-reduce"}));
  CHECK(kinds_of(entry(made)) == std::vector{Kind::repeat});
  CHECK(totals_of(made).times == std::vector{1.0});
  CHECK(made.notes.empty());
  CHECK(kinds_of(entry(flow(call, holds("c", {})))) == std::vector{Kind::work});
}

TEST_CASE("the condition of a loop runs once more than its body") {
  const Flow made = flow(
      "  %p = f32[8] parameter(0)\n  %w = f32[8] while(%p), condition=%cond, body=%body, "
      "backend_config={\"known_trip_count\":{\"n\":\"0\"}}\n",
      holds("cond", {"all-reduce"}) + holds("body", {"all-to-all"}));
  CHECK(totals_of(made).times == std::vector{1.0});
  REQUIRE(made.not_run.size() == 1);
  CHECK(made.ops.size() == 1);
}

TEST_CASE("collectives in any attribute that names a computation are not lost") {
  const Flow made = flow("  %p = f32[8] parameter(0)\n  %r = f32[8] fusion(%p), other=%c\n",
                         holds("c", {"all-reduce"}));
  CHECK(names_of(made) == std::vector<std::string>{"r"});
  const Flow unknown = flow("  %p = f32[8] parameter(0)\n  %r = f32[8] frobnicate(%p), runs={%c}\n",
                            holds("c", {"all-reduce"}));
  CHECK(unknown.not_run.size() == 1);
}

TEST_CASE("too many collectives through fusions of fusions are refused") {
  std::string chain = holds("c0", {"all-reduce"});
  for (int i = 1; i <= 40; ++i) {
    const std::string before = "%c" + std::to_string(i - 1);
    chain += "%c" + std::to_string(i) + " (x: f32[8]) -> f32[8] {\n  %x = f32[8] parameter(0)\n" +
             "  %y = f32[8] fusion(%x), calls=" + before +
             "\n  ROOT %z = f32[8] fusion(%y), calls=" + before + "\n}\n";
  }
  CHECK_THROWS_WITH(
      flow("  %p = f32[8] parameter(0)\n  %r = f32[8] fusion(%p), calls=%c40\n", chain),
      ContainsSubstring("more than 100000 collectives"));
}

TEST_CASE("no collective vanishes from random programs") {
  testing::WrappedPrograms programs(7);
  constexpr int kPrograms = 2000;
  std::size_t planted = 0;
  for (int i = 0; i < kPrograms; ++i) {
    const testing::WrappedProgram program = programs.next();
    planted += program.expected.size();
    INFO(program.text);
    REQUIRE_NOTHROW(testing::check_nothing_vanishes(program));
  }
  CHECK(planted > 10'000);
}

TEST_CASE("a program that lacks a collective fails the check") {
  testing::WrappedProgram program = testing::WrappedPrograms(7).next();
  program.expected["m.gone"] = 1.0;
  CHECK_THROWS_WITH(testing::check_nothing_vanishes(program), ContainsSubstring("m.gone runs -1"));
}

// --- Totals of ten modules of different kinds, worked out by hand

struct Sums {
  double flops, vector_ops, hbm_bytes, collective_bytes;
};

void check_sums(const Flow& made, const Sums& by_hand) {
  const FlowTotals totals = totals_of(made);
  CHECK(totals.cost.flops == by_hand.flops);
  CHECK(totals.cost.vector_ops == by_hand.vector_ops);
  CHECK(totals.cost.hbm_bytes == by_hand.hbm_bytes);
  CHECK(totals.collective_bytes == by_hand.collective_bytes);
}

TEST_CASE("1: a GEMM") {
  check_sums(
      flow("  %p = bf16[64,32] parameter(0)\n  %q = bf16[32,16] parameter(1)\n"
           "  %r = bf16[64,16] dot(%p, %q), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"),
      {2.0 * 64 * 32 * 16, 0, 2.0 * (64 * 32 + 32 * 16 + 64 * 16), 0});
}

TEST_CASE("2: a data-parallel layer: a weight gradient, summed, and the update") {
  check_sums(
      flow("  %x = f32[64,32] parameter(0)\n  %g = f32[64,16] parameter(1)\n"
           "  %w = f32[32,16] dot(%x, %g), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
           "  %s = f32[32,16] all-reduce(%w), to_apply=%add, replica_groups={}\n"
           "  %u = f32[32,16] parameter(2)\n  %n = f32[32,16] subtract(%u, %s)\n"),
      {2.0 * 32 * 16 * 64, 512, 4.0 * (64 * 32 + 64 * 16 + 512) + 4.0 * 3 * 512, 4.0 * 512});
}

TEST_CASE("3: a loop over layers whose weights are slices of a stack") {
  check_sums(
      flow("  %x = bf16[16,8] parameter(0)\n  %w = bf16[4,8,8] parameter(1)\n  %i = s32[] "
           "constant(0)\n"
           "  %t = (s32[], bf16[16,8], bf16[4,8,8]) tuple(%i, %x, %w)\n"
           "  %l = (s32[], bf16[16,8], bf16[4,8,8]) while(%t), condition=%cond, body=%layer, "
           "backend_config={\"known_trip_count\":{\"n\":\"4\"}}\n",
           "%slice (s: bf16[4,8,8], k: s32[]) -> bf16[8,8] {\n  %s = bf16[4,8,8] parameter(0)\n  "
           "%k = s32[] parameter(1)\n"
           "  %z = s32[] constant(0)\n  %d = bf16[1,8,8] dynamic-slice(%s, %k, %z, %z), "
           "dynamic_slice_sizes={1,8,8}\n"
           "  ROOT %b = bf16[8,8] bitcast(%d)\n}\n"
           "%cond (c: (s32[], bf16[16,8], bf16[4,8,8])) -> pred[] {\n  %c = (s32[], bf16[16,8], "
           "bf16[4,8,8]) parameter(0)\n  ROOT %y = pred[] constant(true)\n}\n"
           "%layer (v: (s32[], bf16[16,8], bf16[4,8,8])) -> (s32[], bf16[16,8], bf16[4,8,8]) {\n"
           "  %v = (s32[], bf16[16,8], bf16[4,8,8]) parameter(0)\n  %j = s32[] "
           "get-tuple-element(%v), index=0\n"
           "  %h = bf16[16,8] get-tuple-element(%v), index=1\n  %ws = bf16[4,8,8] "
           "get-tuple-element(%v), index=2\n"
           "  %wi = bf16[8,8] fusion(%ws, %j), kind=kLoop, calls=%slice\n"
           "  %o = bf16[16,8] dot(%h, %wi), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
           "  %one = s32[] constant(1)\n  %nx = s32[] add(%j, %one)\n"
           "  ROOT %q = (s32[], bf16[16,8], bf16[4,8,8]) tuple(%nx, %o, %ws)\n}\n"),
      // Slice: 128 B of the stack, 4 B of the index, 128 B written. GEMM: 256 + 128 + 256. Counter:
      // three times 4 B.
      {4 * 2.0 * 16 * 8 * 8, 4.0, 4 * (128 + 4 + 128 + 256 + 128 + 256 + 12.0), 0});
}

TEST_CASE("4: a softmax in one fusion") {
  check_sums(flow("  %x = f32[10,100] parameter(0)\n  %r = f32[10,100] fusion(%x), kind=kLoop, "
                  "calls=%softmax\n",
                  "%softmax (s: f32[10,100]) -> f32[10,100] {\n  %s = f32[10,100] parameter(0)\n  "
                  "%z = f32[] constant(0)\n"
                  "  %e = f32[10,100] exponential(%s)\n  %t = f32[10] reduce(%e, %z), "
                  "dimensions={1}, to_apply=%add\n"
                  "  %b = f32[10,100] broadcast(%t), dimensions={0}\n  ROOT %d = f32[10,100] "
                  "divide(%e, %b)\n}\n"),
             {0, 3000, 2 * 4000.0, 0});
}

TEST_CASE("5: an image convolution with padding") {
  check_sums(flow("  %x = bf16[2,8,8,3] parameter(0)\n  %k = bf16[3,3,3,16] parameter(1)\n"
                  "  %r = bf16[2,8,8,16] convolution(%x, %k), window={size=3x3 pad=1_1x1_1}, "
                  "dim_labels=b01f_01io->b01f\n"),
             {2.0 * 2 * 16 * 3 * 22 * 22, 0, 2.0 * (384 + 432 + 2048), 0});
}

TEST_CASE("6: FSDP: weights gathered during compute, gradients scattered") {
  check_sums(
      flow("  %w = bf16[4,16] parameter(0)\n  %x = bf16[8,32] parameter(1)\n  %g = bf16[32,16] "
           "parameter(2)\n"
           "  %s = (bf16[4,16], bf16[32,16]) all-gather-start(%w), dimensions={0}, "
           "replica_groups=[1,8]<=[8], channel_id=1, use_global_device_ids=true\n"
           "  %n = bf16[8,32] negate(%x)\n  %d = bf16[32,16] all-gather-done(%s)\n"
           "  %y = bf16[8,16] dot(%n, %d), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
           "  %h = bf16[4,16] reduce-scatter(%g), dimensions={0}, replica_groups=[1,8]<=[8], "
           "channel_id=2, use_global_device_ids=true, to_apply=%add\n"),
      {2.0 * 8 * 16 * 32, 256, 2 * 512 + 512 + 1024 + 256.0, 1024 + 1024.0});
}

TEST_CASE("7: experts: an all-to-all, a batched GEMM, an all-to-all") {
  check_sums(flow("  %x = bf16[8,4,16] parameter(0)\n  %w = bf16[8,16,32] parameter(1)\n"
                  "  %a = bf16[8,4,16] all-to-all(%x), dimensions={0}, replica_groups={}\n"
                  "  %y = bf16[8,4,32] dot(%a, %w), lhs_batch_dims={0}, rhs_batch_dims={0}, "
                  "lhs_contracting_dims={2}, rhs_contracting_dims={1}\n"
                  "  %b = bf16[8,4,32] all-to-all(%y), dimensions={0}, replica_groups={}\n"),
             {2.0 * 8 * 4 * 32 * 16, 0, 1024 + 8192 + 2048.0, 1024 + 2048.0});
}

TEST_CASE("8: decoding of a token: the cache is updated in place, int8 weights") {
  check_sums(
      flow("  %c = bf16[1,128,64] parameter(0)\n  %k = bf16[1,1,64] parameter(1)\n  %i = s32[] "
           "parameter(2)\n"
           "  %u = bf16[1,128,64] dynamic-update-slice(%c, %k, %i, %i, %i)\n"
           "  %x = s8[1,64] parameter(3)\n  %w = s8[64,256] parameter(4)\n"
           "  %y = s32[1,256] dot(%x, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"),
      {2.0 * 256 * 64, 0, 128 + 128 + 12.0 + 64 + 64 * 256 + 1024, 0});
}

TEST_CASE("9: a GPU's program: cuBLAS, a triton fusion, a synchronous pair") {
  check_sums(flow("  %x = f16[64,64] parameter(0)\n"
                  "  %m = (f16[64,64], s8[1000]) custom-call(%x, %x), "
                  "custom_call_target=\"__cublas$gemm\", "
                  "backend_config={\"operation_queue_id\":\"0\",\"gemm_backend_config\":{\"dot_"
                  "dimension_numbers\":{\"lhs_contracting_dimensions\":[\"1\"]}}}\n"
                  "  %g = f16[64,64] get-tuple-element(%m), index=0\n"
                  "  %t = f16[64,64] fusion(%g, %x), kind=kCustom, calls=%triton\n"
                  "  %s = f16[64,64] all-reduce-start(%t), to_apply=%add, replica_groups={}, "
                  "backend_config={\"collective_backend_config\":{\"is_sync\":true}}\n"
                  "  %d = f16[64,64] all-reduce-done(%s)\n",
                  "%triton (a.1: f16[64,64], b.1: f16[64,64]) -> f16[64,64] {\n  %a.1 = f16[64,64] "
                  "parameter(0)\n  %b.1 = f16[64,64] parameter(1)\n"
                  "  %dd = f16[64,64] dot(%a.1, %b.1), lhs_contracting_dims={1}, "
                  "rhs_contracting_dims={0}\n  ROOT %nn = f16[64,64] negate(%dd)\n}\n"),
             // The GEMM also writes its workspace.
             {2 * 2.0 * 64 * 64 * 64, 4096, (2 * 8192 + 8192 + 1000) + 3 * 8192.0, 8192});
}

TEST_CASE("10: loops within a loop, one of them with a collective") {
  check_sums(flow("  %p = f32[8] parameter(0)\n  %w = f32[8] while(%p), condition=%cond, "
                  "body=%outer, backend_config={\"known_trip_count\":{\"n\":\"3\"}}\n",
                  "%cond (c: f32[8]) -> pred[] {\n  %c = f32[8] parameter(0)\n  ROOT %t = pred[] "
                  "constant(true)\n}\n"
                  "%inner (x: f32[8]) -> f32[8] {\n  %x = f32[8] parameter(0)\n  ROOT %n = f32[8] "
                  "negate(%x)\n}\n"
                  "%sum (y: f32[8]) -> f32[8] {\n  %y = f32[8] parameter(0)\n  ROOT %s = f32[8] "
                  "all-reduce(%y), to_apply=%add, replica_groups={}\n}\n"
                  "%outer (z: f32[8]) -> f32[8] {\n  %z = f32[8] parameter(0)\n"
                  "  %u = f32[8] while(%z), condition=%cond, body=%inner, "
                  "backend_config={\"known_trip_count\":{\"n\":\"7\"}}\n"
                  "  ROOT %v = f32[8] while(%u), condition=%cond, body=%sum, "
                  "backend_config={\"known_trip_count\":{\"n\":\"2\"}}\n}\n"),
             {0, 3 * 7 * 8.0, 3 * 7 * 64.0, 3 * 2 * 32.0});
}

}  // namespace
}  // namespace equarx::hlo::flow_test
