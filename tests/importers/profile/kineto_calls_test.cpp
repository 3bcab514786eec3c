#include "importers/profile/kineto_calls.hpp"

#include "base/input/json.hpp"
#include "tests/catch.hpp"
#include "tests/importers/profile/traces.hpp"

namespace equarx::profile::kineto_calls_test {
namespace {

using collectives::Collective;
using input::Json;
using testing::args_of;

Call call_of(const std::string& args, std::string_view kernel = "") {
  return kineto_call(Json::parse("{" + args + "}"), kernel);
}

TEST_CASE("kinds and sizes of PyTorch's collectives follow nccl-tests") {
  struct Row {
    const char* name;
    Collective collective;
    double bytes;  // of 100 elements in and 400 out, 2 bytes each
  };
  for (const Row& row :
       std::vector<Row>{{"allreduce", Collective::all_reduce, 200.0},
                        {"allreduce_coalesced", Collective::all_reduce, 200.0},
                        {"_allgather_base", Collective::all_gather, 800.0},
                        {"all_gather", Collective::all_gather, 800.0},
                        {"all_gather_into_tensor_coalesced", Collective::all_gather, 800.0},
                        {"allgather_into_tensor_coalesced", Collective::all_gather, 800.0},
                        {"reduce_scatter_tensor_coalesced", Collective::reduce_scatter, 200.0},
                        {"_reduce_scatter_base", Collective::reduce_scatter, 200.0},
                        {"all_to_all", Collective::all_to_all, 200.0},
                        {"all_to_allv", Collective::all_to_all, 200.0},
                        {"broadcast", Collective::broadcast, 200.0},
                        {"_broadcast_oop", Collective::broadcast, 200.0}}) {
    CAPTURE(row.name);
    const Call call = call_of(args_of(row.name, 100, 400, "BFloat16", 4, "[0, 1, 2, 3]"));
    CHECK(call.obstacle.empty());
    CHECK(call.collective == row.collective);
    CHECK(call.bytes == row.bytes);
    CHECK(call.can_quantize);
    CHECK(call.groups == imports::DeviceGroups{{0, 1, 2, 3}});
  }
}

TEST_CASE("what cannot be simulated has an obstacle") {
  const auto obstacle = [](const char* name, long count, const char* type, int size,
                           const char* ranks) {
    return call_of(args_of(name, count, count, type, size, ranks)).obstacle;
  };
  CHECK(obstacle("send", 8, "Float", 2, "[0, 1]") == "unsupported kind");
  CHECK(obstacle("barrier", 1, "Float", 2, "[0, 1]") == "only waits");
  CHECK(obstacle("allreduce", 8, "Float7", 2, "[0, 1]") == "unknown element type 'Float7'");
  CHECK(obstacle("allreduce", 0, "Float", 2, "[0, 1]") == "moves no data");
  CHECK(obstacle("allreduce", -1, "Float", 2, "[0, 1]") == "its size is not recorded");
  CHECK(obstacle("allreduce", 8, "Float", 1, "[0]") == "groups of one chip");
  CHECK(obstacle("allreduce", 8, "Float", 2, "[0, 0]") ==
        "its process group has 2 ranks, but lists 2");
  CHECK(obstacle("allreduce", 8, "Float", 3, "[0, 1]") ==
        "its process group has 3 ranks, but lists 2");
  CHECK(obstacle("allreduce", 8, "Float", 2, "0 to 1") == "unreadable ranks '0 to 1'");
  CHECK_FALSE(call_of(args_of("allreduce", 8, 8, "Float7", 2, "[0, 1]")).collective);
}

TEST_CASE("uneven all-to-alls and truncated ranks are assumptions") {
  const auto uneven = [](const char* in, const char* out) {
    return call_of(fmt::format(R"("In split size": "{}", "Out split size": "{}", )", in, out) +
                   args_of("all_to_allv", 8, 8, "Float", 4, "[0, 1, 2, 3]"))
        .is_uneven;
  };
  CHECK_FALSE(uneven("[]", ""));
  CHECK_FALSE(uneven("[2, 2, 2, 2]", "[]"));
  CHECK(uneven("[2, 2, 2, 2]", "[1, 3, 2, 2]"));
  CHECK(uneven("[2, 2, ...]", "[]"));
  Call call = call_of(args_of("allreduce", 8, 8, "Float", 4, "[0, 2, ...]", "tp"));
  CHECK(call.groups == imports::DeviceGroups{{0, 2, 4, 6}});
  CHECK(call.has_assumed_ranks);
  set_unlisted_ranks({}, 8, call);
  CHECK(call.has_assumed_ranks);
  set_unlisted_ranks({{"tp", {0, 2, 5, 7}}}, 8, call);
  CHECK(call.groups == imports::DeviceGroups{{0, 2, 5, 7}});
  CHECK_FALSE(call.has_assumed_ranks);
  CHECK(call_of(R"("Process Group Ranks": [0, 3], )"
                R"("Collective name": "allreduce", "In msg nelems": "8", "dtype": "Float")")
            .groups == imports::DeviceGroups{{0, 3}});
}

TEST_CASE("sums of wide floating-point types may be quantized") {
  const auto can = [](const char* type, std::string_view kernel) {
    return call_of(args_of("allreduce", 8, 8, type, 2, "[0, 1]"), kernel).can_quantize;
  };
  CHECK(can("Half", "ncclDevKernel_AllReduce_Sum_f16_RING_LL(x)"));
  CHECK(can("Float", "ncclDevKernel_Generic_1(x)"));
  CHECK_FALSE(can("Float", "ncclDevKernel_AllReduce_Max_f32_RING_LL(x)"));
  CHECK_FALSE(can("Int", ""));
  CHECK_FALSE(can("Float8_e4m3fn", ""));
}

TEST_CASE("ranks that a call does not list are those of its process group") {
  const ProcessGroups groups = process_groups(Json::parse(
      R"({"pg_config": [{"pg_name": "3", "ranks": [0, 2]}, {"pg_name": "4", "ranks": "[1, 3]"},
                        {"pg_name": "5", "ranks": []}, {"pg_desc": "none"}, 6]})"));
  CHECK(groups == ProcessGroups{{"3", {0, 2}}, {"4", {1, 3}}});
  const auto ranks = [&](const char* group, int size, const char* listed) {
    Call call = call_of(args_of("allreduce", 8, 8, "Float", size, listed, group));
    set_unlisted_ranks(groups, 4, call);
    return call.groups.empty() ? std::vector<std::uint32_t>{} : call.groups.front();
  };
  CHECK(ranks("3", 2, "[0, ...]") == std::vector<std::uint32_t>{0, 2});
  CHECK(ranks("4", 2, "") == std::vector<std::uint32_t>{1, 3});
  CHECK(ranks("9", 4, "[]") == std::vector<std::uint32_t>{0, 1, 2, 3});
  CHECK(ranks("9", 2, "").empty());
  CHECK(ranks("3", 2, "[1, 3]") == std::vector<std::uint32_t>{1, 3});
}

}  // namespace
}  // namespace equarx::profile::kineto_calls_test
