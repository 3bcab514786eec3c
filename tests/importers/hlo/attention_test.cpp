#include "importers/hlo/attention.hpp"

#include "tests/catch.hpp"
#include "tests/importers/hlo/modules.hpp"

namespace equarx::hlo::attention_test {
namespace {

/// Attention of a custom-call `name` over operands of these types.
std::optional<Product> attention(const std::string& name, const std::vector<std::string>& operands,
                                 const std::string& result, const std::string& rest) {
  std::string lines;
  std::string list;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const std::string operand = "%o" + std::to_string(i);
    lines += "  " + operand + " = " + operands[i] + " parameter(" + std::to_string(i) + ")\n";
    list += (i == 0 ? "" : ", ") + operand;
  }
  lines += "  %" + name + " = " + result + " custom-call(" + list + "), " + rest + "\n";
  const Module module = testing::hlo_module(lines);
  return attention_of(testing::instruction_of(module, name), testing::entry_of(module));
}

constexpr double kRows = 2.0 * 16 * 64;  // of 2 sequences, 16 heads and 64 queries

TEST_CASE("attention of Transformer Engine follows from its operands and mask") {
  const auto forward = [](const std::vector<std::string>& operands, const std::string& config) {
    return attention(
               "a", operands, "(bf16[2,64,16,32], f32[2,16,64,1])",
               "custom_call_target=\"te_fused_attn_forward_ffi\", backend_config={attn_heads = "
               "16 : i64" +
                   config + "}")
        .value();
  };
  const std::vector<std::string> apart = {"bf16[2,64,16,32]", "bf16[2,128,8,32]",
                                          "bf16[2,128,8,32]"};
  const Product plain = forward(apart, ", mask_type = 0 : i64, window_size_left = -1 : i64");
  CHECK(plain.flops == 2 * 2 * kRows * 128 * 32);
  CHECK(plain.kernel == workloads::Kernel::attention);
  CHECK(plain.attention_rows == kRows);
  CHECK(plain.assumption.empty());
  CHECK(forward(apart, ", mask_type = 2 : i64").flops == 2 * 2 * kRows * 64 * 32);
  CHECK(forward(apart, ", mask_type = 2 : i64, window_size_left = 15 : i64").flops ==
        2 * 2 * kRows * 16 * 32);
  CHECK(forward(apart, "").flops == plain.flops);
  CHECK(forward(apart, "").assumption == "counted without a mask");
  // Keys with values, and all three, in one array.
  CHECK(forward({"bf16[2,64,16,32]", "bf16[2,128,2,8,32]", "bf16[0]"}, ", mask_type = 0 : i64")
            .flops == plain.flops);
  CHECK(forward({"bf16[2,64,3,16,32]", "bf16[0]", "bf16[0]"}, ", mask_type = 0 : i64").flops ==
        2 * 2 * kRows * 64 * 32);
  const auto backward = attention("a", apart, "(bf16[2,64,16,32], bf16[2,128,8,32])",
                                  "custom_call_target=\"te_fused_attn_backward_ffi\", "
                                  "backend_config={\"mask_type\": 0}");
  CHECK(backward.value().flops == 2 * 5 * kRows * 128 * 32);
  CHECK(backward.value().kernel == workloads::Kernel::attention_backward);
}

TEST_CASE("kernels of splash and flash attention follow from their names and arrays") {
  const std::vector<std::string> arrays = {"s8[16,1,1]", "bf16[2,16,64,32]", "bf16[2,8,128,32]",
                                           "bf16[2,8,128,32]"};
  const auto kernel = [&](const std::string& name, const std::string& result) {
    return attention(name, arrays, result, "custom_call_target=\"tpu_custom_call\"");
  };
  const double each = 2 * kRows * 128 * 32;
  const std::string values = "bf16[2,16,64,32]";
  CHECK(kernel("splash_mha_fwd_residuals.3", "(" + values + ", f32[2,16,64])").value().flops ==
        2 * each);
  CHECK(kernel("flash_attention.1", values).value().flops == 2 * each);
  const std::string two = "bf16[2,8,128,32], bf16[2,8,128,32]";
  CHECK(kernel("splash_mha_dkv_no_residuals", "(" + two + ")").value().flops == 4 * each);
  CHECK(kernel("splash_mha_dkv_no_residuals", "(" + values + ", " + two + ")").value().flops ==
        5 * each);
  CHECK(kernel("splash_mha_dq", "(" + values + ")").value().flops == 3 * each);
  CHECK(kernel("flash_mha_bwd", values).value().flops == 5 * each);
  CHECK_FALSE(kernel("flash_attention", values).value().assumption.empty());
  CHECK_FALSE(kernel("paged_attention.2", values));
  CHECK_FALSE(attention("flash_attention", {"bf16[8,8]"}, "bf16[8,8]",
                        "custom_call_target=\"tpu_custom_call\""));
  CHECK_FALSE(attention("flash_attention", arrays, values, "custom_call_target=\"mine\""));
}

TEST_CASE("shapes that are no attention are unknown") {
  for (const char* queries : {"bf16[64,32]", "(bf16[2,64,16,32])"})
    CHECK_FALSE(attention("a", {queries, "bf16[2,128,8,32]"}, "bf16[8]",
                          "custom_call_target=\"te_fused_attn_forward_ffi\""));
  CHECK_FALSE(attention("a", {}, "bf16[8]", "custom_call_target=\"te_fused_attn_forward_ffi\""));
  CHECK_FALSE(attention("a", {}, "bf16[8]", "custom_call_target=\"__cudnn$fmhaSoftmax\""));
}

}  // namespace
}  // namespace equarx::hlo::attention_test
