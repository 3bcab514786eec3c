#include "importers/profile/kineto.hpp"

#include "tests/catch.hpp"
#include "tests/importers/profile/traces.hpp"
#include "tests/support/errors.hpp"

namespace equarx::profile::kineto_test {
namespace {

using equarx::testing::message_of;
using testing::args_of;
using testing::kernel;
using testing::run_of;
using testing::sum_of_two;
using testing::trace_of;

/// A description by the operation that launched kernels.
std::string params(int id, const std::string& args) {
  return fmt::format(R"({{"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "ts": 0, )"
                     R"("dur": 1, "args": {{"External id": {}, {}}}}})",
                     id, args);
}

TEST_CASE("kernels are collectives or other work of their device") {
  const Profile profile = read_kineto(
      trace_of({sum_of_two(10, 5), kernel("gemm", 0, 12),
                R"({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "ts": 0, "dur": 99})"},
               run_of(1, 2) + R"("deviceProperties": [{"name": "NVIDIA H100"}],)"));
  CHECK(profile.chip == "NVIDIA H100");
  CHECK(profile.chips == 2);
  REQUIRE(profile.devices.size() == 1);
  CHECK(profile.devices[0].name == "rank 1");
  REQUIRE(profile.devices[0].other.size() == 1);
  CHECK_THAT(profile.devices[0].other[0].duration_s, Catch::Matchers::WithinRel(12e-6, 1e-12));
  REQUIRE(profile.executions.size() == 1);
  CHECK_THAT(profile.executions[0].span.duration_s, Catch::Matchers::WithinRel(5e-6, 1e-12));
  CHECK(profile.calls.at(0).bytes == 2048.0);
}

TEST_CASE("older profiles describe kernels by the operation that launched them") {
  const std::string args = args_of("allreduce", 64, 64, "Float", 2, "[0, 1]");
  const Profile profile = read_kineto(
      trace_of({kernel("ncclKernel_AllReduce_RING_LL_Sum_float(x)", 3, 4, R"("External id": 12)"),
                params(12, args)}));
  REQUIRE(profile.calls.size() == 1);
  CHECK(profile.calls[0].bytes == 256.0);
  CHECK(profile.chips == 2);  // the largest rank is 1
  CHECK(profile.notes.empty());
}

TEST_CASE("several kernels of an operation are one execution") {
  const std::string args =
      R"("External id": 4, )" + args_of("all_gather", 8, 16, "Float", 2, "[0, 1]");
  const Profile profile =
      read_kineto(trace_of({kernel("ncclDevKernel_Broadcast(x)", 10, 5, args),
                            kernel("ncclDevKernel_Broadcast(x)", 20, 5, args), sum_of_two(30, 1)}));
  REQUIRE(profile.executions.size() == 2);
  CHECK_THAT(profile.executions[0].span.duration_s, Catch::Matchers::WithinRel(15e-6, 1e-9));
  CHECK(profile.devices[0].communication.size() == 3);
}

TEST_CASE("kernels of a CUDA graph share an external id, but not their number") {
  const auto sum = [](double start, int number) {
    return kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(x)", start, 5,
                  fmt::format(R"("External id": 4, "Seq": {}, )", number) +
                      args_of("allreduce", 8, 8, "BFloat16", 2, "[0, 1]"));
  };
  CHECK(read_kineto(trace_of({sum(0, 1), sum(10, 2), sum(20, 2)})).executions.size() == 2);
}

TEST_CASE("kernels that cannot be used are noted with counts") {
  const Profile profile = read_kineto(
      trace_of({sum_of_two(10, 5), sum_of_two(20, -5), sum_of_two(30, 0),
                R"({"ph": "X", "cat": "kernel", "name": "gemm", "ts": "nan", "dur": 3})",
                kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(x)", 40, 5),
                kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(x)", 50, 5),
                kernel("void vllm::cross_device_reduce_1stage<float>(x)", 60, 5)}));
  CHECK(profile.executions.size() == 1);
  CHECK(profile.devices[0].communication.size() == 4);
  CHECK(profile.devices[0].other.empty());
  CHECK(profile.notes ==
        Notes{{"kernels without a valid start and duration are not used", 2},
              {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL kernels without sizes, as in CUDA graphs: "
               "only their time is used",
               2},
              {"void vllm::cross_device_reduce_1stage kernels without sizes, as in CUDA graphs: "
               "only their time is used",
               1}});
}

TEST_CASE("assumptions are noted once per execution") {
  const std::string args = args_of("allreduce", 8, 8, "Float", 4, "[0, 1, ...]");
  CHECK(read_kineto(trace_of({kernel("nccl", 0, 1, args), kernel("nccl", 2, 1, args)})).notes ==
        Notes{{"truncated lists of ranks are completed by their stride", 2}});
}

TEST_CASE("devices of one process are kept apart") {
  const Profile profile = read_kineto(
      trace_of({sum_of_two(0, 1), kernel("gemm", 0, 1, R"("device": 3)")}, run_of(0, 2)));
  REQUIRE(profile.devices.size() == 2);
  CHECK(profile.devices[1].name == "rank 0, device 3");
}

TEST_CASE("profiles without usable collectives are refused with a remedy") {
  const auto read = [](const std::string& text) { return [text] { read_kineto(text); }; };
  CHECK_THAT(message_of(read(trace_of({kernel("gemm", 0, 1)}))),
             ContainsSubstring("has no collective among its 1 kernels") &&
                 ContainsSubstring("ProfilerActivity.CUDA], record_shapes=True"));
  CHECK_THAT(message_of(read(trace_of({}))), ContainsSubstring("among its 0 kernels"));
  CHECK_THAT(message_of(read(trace_of({kernel("ncclDevKernel_AllReduce(x)", 0, 1)}))),
             ContainsSubstring("none of its 1 collective kernels has a size, such as "
                               "'ncclDevKernel_AllReduce'"));
}

TEST_CASE("ranks beyond the run are refused") {
  const auto read = [](const std::string& text) { return [text] { read_kineto(text); }; };
  const std::string far =
      kernel("nccl", 0, 1, args_of("allreduce", 8, 8, "Float", 2, "[0, 9]", "tp"));
  CHECK_THAT(
      message_of(read(trace_of({far}, run_of(0, 8)))),
      ContainsSubstring("process group 'tp' has rank 9, but \"distributedInfo\" has a world_size "
                        "of 8"));
  CHECK(read_kineto(trace_of({far})).chips == 10);
  CHECK_THAT(message_of(read(trace_of({far}, run_of(0, -1)))),
             ContainsSubstring("has a world_size of -1"));
}

}  // namespace
}  // namespace equarx::profile::kineto_test
