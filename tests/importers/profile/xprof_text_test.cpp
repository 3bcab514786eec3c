#include "importers/profile/xprof_text.hpp"

#include "tests/catch.hpp"

namespace equarx::profile::xprof_text_test {
namespace {

using collectives::Collective;

Call call_of(std::string_view text, std::uint32_t chips) {
  return xprof_call(read_hlo_text(text).value(), chips);
}

TEST_CASE("collectives are described by their HLO text") {
  const Call sum = call_of(
      "%all-reduce.3 = bf16[8192,512]{1,0:T(8,128)(2,1)} all-reduce(bf16[8192,512]{1,0} %x.1), "
      "channel_id=1, replica_groups={{0,1},{2,3}}, use_global_device_ids=true, to_apply=%add.2",
      4);
  CHECK(sum.name == "all-reduce.3");
  CHECK(sum.kind == "all-reduce");
  CHECK(sum.type == "bf16");
  CHECK(sum.bytes == 8192.0 * 512 * 2);
  CHECK(sum.groups == imports::DeviceGroups{{0, 1}, {2, 3}});
  CHECK(sum.can_quantize);
  const Call scatter = call_of(
      "%reduce-scatter.1 = f32[16]{0} reduce-scatter(f32[64]{0} %x), channel_id=4, "
      "replica_groups=[1,4]<=[4], use_global_device_ids=true, to_apply=%add.2",
      4);
  CHECK(scatter.bytes == 16.0 * 4 * 4);  // the input
  CHECK(scatter.collective == Collective::reduce_scatter);
}

TEST_CASE("the result of an asynchronous collective is the second part of its start") {
  const auto bytes = [](std::string_view text) { return read_hlo_text(text)->bytes; };
  CHECK(bytes("%all-gather-start.1 = (bf16[8]{0}, bf16[32]{0}) all-gather-start(bf16[8]{0} %x)") ==
        64.0);
  CHECK(bytes("%all-gather-start.1 = ((bf16[8], f32[2]), (bf16[32], f32[8])) all-gather-start(%x, "
              "%y)") == 96.0);
  CHECK(bytes("%all-reduce-start = (f32[8]{0}, f32[8]{0}) all-reduce-start(%x, %y)") == 64.0);
  CHECK(read_hlo_text("%all-gather-done.1 = bf16[32]{0} all-gather-done((bf16[8], bf16[32]) "
                      "%all-gather-start.1)")
            ->operand == "all-gather-start.1");
}

TEST_CASE("groups may be absent or count replicas") {
  const Call all = call_of("%all-reduce = f32[8] all-reduce(%x), replica_groups={}", 4);
  CHECK(all.groups == imports::DeviceGroups{{0, 1, 2, 3}});
  const Call partitions =
      call_of("%all-reduce = f32[8] all-reduce(%x), channel_id=1, replica_groups={{0}}", 4);
  CHECK(partitions.groups == imports::DeviceGroups{{0, 1, 2, 3}});
  CHECK(least_chips(*read_hlo_text(
            "%all-reduce = f32[8] all-reduce(%x), channel_id=1, replica_groups={{0}}")) == 0);
  CHECK(least_chips(*read_hlo_text(
            "%all-to-all = f32[8] all-to-all(%x), channel_id=1, replica_groups={{0,3}}")) == 4);
  CHECK(call_of("%all-reduce = f32[8] all-reduce(%x), replica_groups=what", 4).obstacle ==
        "unreadable replica_groups 'what'");
}

TEST_CASE("what is not quantized") {
  const auto can = [](std::string_view text) { return call_of(text, 4).can_quantize; };
  CHECK(can("%all-reduce = f32[8] all-reduce(%x), to_apply=%region_0.4"));
  CHECK_FALSE(can("%all-reduce = f32[8] all-reduce(%x), to_apply=%maximum.4"));
  CHECK_FALSE(can("%all-reduce = s32[8] all-reduce(%x), to_apply=%add.4"));
  CHECK(can("%all-to-all = f32[8] all-to-all(%x)"));
  CHECK(call_of("%collective-permute = f32[8] collective-permute(%x), "
                "source_target_pairs={{0,1}}",
                4)
            .obstacle == "permutes are not compared");
}

TEST_CASE("truncated and other text is no instruction") {
  for (const char* text : {"", "fusion.3", "%all-reduce.3 = bf16[8192,5", "%x = f32[8] all-reduce",
                           "%x = f32[8] all-reduce(f32[8] %y, ", "jit_step(12)", "%x = (f32[8"}) {
    CAPTURE(text);
    CHECK_FALSE(read_hlo_text(text));
  }
  CHECK_FALSE(is_collective(*read_hlo_text("%fusion.1 = f32[8] fusion(%x), kind=kLoop")));
}

}  // namespace
}  // namespace equarx::profile::xprof_text_test
