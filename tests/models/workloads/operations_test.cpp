#include "models/workloads/operations.hpp"

#include <map>

#include "base/exceptions/exceptions.hpp"
#include "tests/catch.hpp"
#include "tests/models/workloads/models.hpp"

namespace equarx::workloads::operations_test {
namespace {

using testing::find;
using testing::gemma3_27b;
using testing::tiny;
using testing::total;

std::vector<std::string_view> names(const std::vector<Operation>& operations) {
  std::vector<std::string_view> result;
  for (const Operation& operation : operations) result.push_back(operation.name);
  return result;
}

TEST_CASE("operations of a layer are in order") {
  const PhaseOperations phase = phase_operations(tiny(), Prefill{5, 1}, 2, {});
  const std::vector<std::string_view> layer = {"qkv",
                                               "rope",
                                               "scores",
                                               "softmax",
                                               "values",
                                               "attention_output",
                                               "attention_allreduce",
                                               "attention_residual",
                                               "ffn_in",
                                               "activation",
                                               "ffn_out",
                                               "ffn_allreduce",
                                               "ffn_residual"};
  CHECK(names(phase.layer(testing::kLocal)) == layer);
  CHECK(names(phase.layer(testing::kGlobal)) == layer);
  CHECK(names(phase.embedding) == std::vector<std::string_view>{"embedding"});
  CHECK(names(phase.head) == std::vector<std::string_view>{"final_norm", "logits"});
}

TEST_CASE("a residual in VMEM saves its HBM traffic and changes nothing else") {
  const Transformer model = tiny();
  const Prefill prefill{5, 3};
  const PhaseOperations hbm = phase_operations(model, prefill, 2, {});
  const PhaseOperations vmem = phase_operations(model, prefill, 2, {}, ResidualPlace::vmem);
  constexpr double kResidual = 15 * 8 * 2;
  const std::map<std::string_view, double> crossings = {
      {"qkv", 1}, {"attention_residual", 2}, {"ffn_in", 1}, {"ffn_residual", 2}};
  for (std::size_t i = 0; i < hbm.layer(testing::kLocal).size(); ++i) {
    const Operation& one = hbm.layer(testing::kLocal)[i];
    const Operation& other = vmem.layer(testing::kLocal)[i];
    CAPTURE(one.name);
    const auto found = crossings.find(one.name);
    const double fewer = found == crossings.end() ? 0.0 : found->second * kResidual;
    CHECK(other.hbm_bytes() == one.hbm_bytes() - fewer);
    CHECK(other.flops == one.flops);
    CHECK(other.vector_ops == one.vector_ops);
    CHECK(other.live_bytes == one.live_bytes);
    CHECK(other.collective_bytes == one.collective_bytes);
  }
  CHECK(vmem.embedding.front().hbm_bytes() == hbm.embedding.front().hbm_bytes() - kResidual);
}

TEST_CASE("operations of a layer match a manual calculation") {
  // 15 rows; two chips: 2 query heads and 1 key head of size 2, FFN 6 wide; d_model 8.
  const Transformer model = tiny();
  const auto layer = phase_operations(model, Prefill{5, 3}, 2, {}).layer(testing::kGlobal);
  const Operation& qkv = find(layer, "qkv");
  CHECK(qkv.flops == 2 * 15 * 8 * (4 + 2 + 2));
  CHECK(qkv.weight_bytes == 8 * 8 * 2);
  CHECK(qkv.read_bytes == 15 * 8 * 2);
  CHECK(qkv.written_bytes == 15 * 8 * 2);
  CHECK(qkv.vector_ops == 15 * 8 * (1 + 2 + 2));  // its input is normalized
  CHECK(find(layer, "attention_output").vector_ops == 0);
  const Operation& output = find(layer, "attention_output");
  CHECK(output.flops == 2 * 15 * 4 * 8);
  CHECK(output.weight_bytes == 4 * 8 * 2);
  const Operation& in = find(layer, "ffn_in");
  CHECK(in.flops == 2 * 15 * 8 * 12);
  CHECK(in.written_bytes == 15 * 12 * 2);
  const Operation& activation = find(layer, "activation");
  CHECK(activation.read_bytes == 15 * 12 * 2);
  CHECK(activation.written_bytes == 15 * 6 * 2);
  // From bf16 twice, SiLU 5, times up, to bf16.
  CHECK(activation.vector_ops == 15 * 6 * (2 + 5 + 1 + 2));
  const Operation& out = find(layer, "ffn_out");
  CHECK(out.flops == 2 * 15 * 6 * 8);
  CHECK(out.weight_bytes == 6 * 8 * 2);
  CHECK(out.written_bytes == 15 * 8 * 2);
  const Operation& rope = find(layer, "rope");
  CHECK(rope.read_bytes == 15 * (4 + 2) * 2);
  const Operation& residual = find(layer, "ffn_residual");
  CHECK(residual.read_bytes == 2 * 15 * 8 * 2);
  CHECK(residual.written_bytes == 15 * 8 * 2);
  CHECK(residual.vector_ops == 15 * 8 * (2 + 1 + 2 + 2));  // add, squares of the sum
  const Operation& sum = find(layer, "attention_allreduce");
  CHECK(sum.kind == OperationKind::allreduce);
  CHECK(sum.collective_bytes == 15 * 8 * 2);
  CHECK(sum.hbm_bytes() == 0);
}

TEST_CASE("each activation has the vector work of its own function") {
  const auto activation_ops = [](Activation activation) {
    Transformer model = tiny();
    model.activation = activation;
    const PhaseOperations phase = phase_operations(model, Prefill{5, 3}, 2, {});
    return find(phase.layer(testing::kGlobal), "activation").vector_ops;
  };
  const double relu = activation_ops(Activation::relu);
  CHECK(activation_ops(Activation::silu) - relu == 4 * 15 * 6);
  CHECK(activation_ops(Activation::gelu) - relu == 8 * 15 * 6);
}

TEST_CASE("embedding and logits match a manual calculation") {
  const PhaseOperations phase = phase_operations(tiny(), Prefill{5, 3}, 4, {});
  const Operation& lookup = find(phase.embedding, "embedding");
  CHECK(lookup.weight_bytes == 15 * 8 * 2);
  CHECK(lookup.written_bytes == 15 * 8 * 2);
  CHECK(lookup.flops == 0);
  const Operation& logits = find(phase.head, "logits");
  CHECK(logits.flops == 2 * 3 * 8 * 8);  // 3 last tokens; 30 rows of the table over 4 chips
  CHECK(logits.weight_bytes == 8 * 8 * 2);
  CHECK(find(phase.head, "final_norm").read_bytes == 3 * 8 * 2);
}

TEST_CASE("an FFN without gate has two matrices and one operand") {
  Transformer model = tiny();
  model.gated_ffn = false;
  const auto layer = phase_operations(model, Prefill{5, 1}, 1, {}).layer(testing::kLocal);
  CHECK(find(layer, "ffn_in").flops == 2 * 5 * 8 * 12);
  CHECK(find(layer, "activation").read_bytes == 5 * 12 * 2);
}

TEST_CASE("extra norms are extra vector work, and weights of fp32 twice the bytes") {
  Transformer model = tiny();
  const auto plain = phase_operations(model, Prefill{5, 1}, 1, {}).layer(testing::kLocal);
  model.post_norms = true;
  model.qk_norms = true;
  model.weights = WeightType::fp32;
  const auto more = phase_operations(model, Prefill{5, 1}, 1, {}).layer(testing::kLocal);
  for (const std::string_view name : {"attention_residual", "ffn_residual", "rope"}) {
    CHECK(find(more, name).vector_ops > find(plain, name).vector_ops);
  }
  // Post-norms read the result once more; keys and queries of a head are already available.
  CHECK(find(more, "ffn_residual").read_bytes == 3 * 5 * 8 * 2);
  CHECK(find(plain, "ffn_residual").read_bytes == 2 * 5 * 8 * 2);
  CHECK(find(more, "ffn_residual").live_bytes == find(plain, "ffn_residual").live_bytes);
  CHECK(find(more, "rope").hbm_bytes() == find(plain, "rope").hbm_bytes());
  CHECK(find(more, "qkv").weight_bytes == 2 * find(plain, "qkv").weight_bytes);
  CHECK(find(more, "qkv").flops == find(plain, "qkv").flops);
}

TEST_CASE("without pre-norms only results are normalized") {
  Transformer model = tiny();
  model.post_norms = true;
  model.qk_norms = true;
  const PhaseOperations both = phase_operations(model, Prefill{5, 1}, 2, {});
  model.pre_norms = model.final_norm = model.qk_gains = false;
  const PhaseOperations after = phase_operations(model, Prefill{5, 1}, 2, {});
  const auto& with = both.layer(testing::kLocal);
  const auto& without = after.layer(testing::kLocal);
  constexpr double kWidth = 5 * 8;
  CHECK(names(with) == names(without));
  for (const std::string_view name : {"qkv", "ffn_in"}) {
    CHECK(find(with, name).vector_ops == kWidth * (1 + 2 + 2));  // decode, two factors, encode
    CHECK(find(without, name).vector_ops == 0.0);
    CHECK(find(without, name).hbm_bytes() == find(with, name).hbm_bytes());
  }
  // Three operands, statistics and scale of the result, addition, encoding; with pre-norms also
  // statistics of the next norm.
  for (const std::string_view name : {"attention_residual", "ffn_residual"}) {
    CHECK(find(without, name).vector_ops == kWidth * (3 + 4 + 1 + 2));
    CHECK(find(with, name).vector_ops == kWidth * (3 + 4 + 1 + 2 + 2));
    CHECK(find(without, name).hbm_bytes() == 4 * kWidth * 2);
  }
  CHECK(find(with, "rope").vector_ops - find(without, "rope").vector_ops == 5 * (4 + 2));
  CHECK(names(after.head) == std::vector<std::string_view>{"logits"});
  CHECK(after.embedding.front().vector_ops == kWidth);
}

TEST_CASE("xIELU reads and writes each element once, without a gate") {
  const auto layer =
      phase_operations(testing::tiny_fog(), Prefill{5, 1}, 1, {}).layer(testing::kLocal);
  const Operation& activation = find(layer, "activation");
  CHECK(activation.vector_ops == 5 * 12 * (1 + 12 + 2));
  CHECK(activation.hbm_bytes() == 5 * 12 * (2 + 2));
}

TEST_CASE("rows of experts are copied without a norm if the model has no pre-norms") {
  Transformer model = testing::tiny_experts();
  const LayerKind kind{.local = true, .experts = true};
  const auto dispatch = [&] {
    return find(phase_operations(model, Prefill{5, 1}, 1, {}).layer(kind), "dispatch");
  };
  CHECK(dispatch().vector_ops > 0.0);
  model.pre_norms = false;
  CHECK(dispatch().vector_ops == 0.0);
  CHECK(dispatch().written_bytes == 5 * 2 * 8 * 2);
}

TEST_CASE("GEMM work is two FLOPs per parameter and token") {
  const Transformer model = gemma3_27b();
  const PhaseOperations phase = phase_operations(model, Prefill{4096, 1}, 16, {});
  double flops = 0.0;
  for (std::uint32_t layer = 0; layer < model.layers; ++layer)
    for (const Operation& operation : phase.layer(layer_kind(model, layer)))
      if (operation.kind == OperationKind::matrix) flops += operation.flops;
  CHECK(16 * flops == Approx(2.0 * 4096 * parameters_without_embeddings(model)).epsilon(1e-4));
}

TEST_CASE("tensor parallelism divides the work without loss") {
  Transformer model = gemma3_27b();
  for (const Phase& phase : {Phase(Prefill{512, 2}), Phase(Decode{512, 2})})
    for (const bool fused : {false, true}) {
      const AttentionMethod method{.fused = fused};
      const double alone =
          total(model, phase_operations(model, phase, 1, method), &Operation::flops);
      for (const std::uint32_t chips : {2U, 4U, 8U, 16U}) {
        CAPTURE(chips, fused);
        const PhaseOperations shared = phase_operations(model, phase, chips, method);
        CHECK(chips * total(model, shared, &Operation::flops) == Approx(alone).epsilon(1e-12));
      }
      // Two chips per key and value head: its projections are computed twice.
      const double twice =
          32 * total(model, phase_operations(model, phase, 32, method), &Operation::flops);
      const double keys_and_values = 2.0 * extent(phase).rows() * model.d_model * 2.0 *
                                     model.kv_heads * model.head_size * model.layers;
      CHECK(twice == Approx(alone + keys_and_values).epsilon(1e-12));
    }
}

TEST_CASE("every layer has two AllReduces of all rows, except on a single chip") {
  const Transformer model = gemma3_27b();
  const Phase phase = Prefill{4096, 1};
  const auto sum = [&](std::uint32_t chips) {
    return total(model, phase_operations(model, phase, chips, {}), &Operation::collective_bytes);
  };
  CHECK(sum(16) == 124 * 44040192.0);
  CHECK(sum(2) == 124 * 44040192.0);
  CHECK(sum(1) == 0);
}

TEST_CASE("more tokens are more work, and more than in proportion in attention") {
  const Transformer model = gemma3_27b();
  const auto work = [&](const Phase& phase, double Operation::*field) {
    return total(model, phase_operations(model, phase, 16, {}), field);
  };
  CHECK(work(Prefill{2048, 1}, &Operation::flops) >
        2.0 * work(Prefill{1024, 1}, &Operation::flops));
  CHECK(work(Prefill{2048, 1}, &Operation::read_bytes) >
        2.0 * work(Prefill{1024, 1}, &Operation::read_bytes));
  CHECK(work(Prefill{1024, 2}, &Operation::flops) ==
        Approx(2.0 * work(Prefill{1024, 1}, &Operation::flops)).epsilon(1e-12));
  CHECK(work(Decode{2048, 1}, &Operation::flops) > work(Decode{1024, 1}, &Operation::flops));
}

TEST_CASE("only local layers benefit from skipping outside the window") {
  const AttentionMethod window{.skips_outside_window = true};
  const PhaseOperations all = phase_operations(gemma3_27b(), Prefill{4096, 1}, 16, {});
  const PhaseOperations some = phase_operations(gemma3_27b(), Prefill{4096, 1}, 16, window);
  CHECK(find(some.layer(testing::kLocal), "scores").flops ==
        find(all.layer(testing::kLocal), "scores").flops / 4.0);
  CHECK(find(some.layer(testing::kGlobal), "scores").flops ==
        find(all.layer(testing::kGlobal), "scores").flops);
}

TEST_CASE("decoding one token of a prompt is the last row of its prefill") {
  // Decoding every position sums to a prefill that skips the future.
  const Transformer model = tiny();
  const AttentionMethod method{.fused = true, .skips_future = true, .skips_outside_window = true};
  double decoded = 0.0;
  for (std::uint64_t context = 1; context <= 20; ++context) {
    const auto layer =
        phase_operations(model, Decode{context, 1}, 2, method).layer(testing::kLocal);
    decoded += find(layer, "attention").flops + find(layer, "qkv").flops;
  }
  const auto layer = phase_operations(model, Prefill{20, 1}, 2, method).layer(testing::kLocal);
  CHECK(decoded == find(layer, "attention").flops + find(layer, "qkv").flops);
}

TEST_CASE("impossible phases, shards and methods are rejected") {
  CHECK_THROWS_AS(phase_operations(tiny(), Prefill{0, 1}, 2, {}), exceptions::UserError);
  CHECK_THROWS_AS(phase_operations(tiny(), Prefill{5, 1}, 3, {}), std::invalid_argument);
  CHECK_THROWS_AS(phase_operations(tiny(), Prefill{5, 1}, 2, {.score_passes = 1.0}),
                  std::invalid_argument);
}

}  // namespace
}  // namespace equarx::workloads::operations_test
