#include "experiments/config/step_values.hpp"

#include <functional>
#include <numeric>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/input/codecs.hpp"
#include "base/input/errors.hpp"
#include "base/input/fields.hpp"
#include "base/input/json.hpp"
#include "base/input/pointer.hpp"
#include "experiments/config/step_rules.hpp"
#include "experiments/config/tensor_json.hpp"
#include "experiments/config/topology.hpp"

namespace equarx::config {
namespace {

/// The tensor of a collective with the values of a rule.
TensorConfig tensor_of(const TensorConfig& rule, const StepCall& step_call, std::uint32_t ranks,
                       const std::string& pointer) {
  TensorConfig tensor = rule;
  tensor.elements = step_call.call.elements;
  tensor.dtype = step_call.call.dtype;
  if (tensor.sample == 0.0)  // not given
    tensor.sample = small_sample(tensor.elements);
  if (tensor.files.empty()) return tensor;
  const std::vector<std::uint64_t> shape = open_files(tensor, ranks, pointer);
  const std::uint64_t elements =
      std::accumulate(shape.begin(), shape.end(), std::uint64_t{1}, std::multiplies<>());
  if (elements != tensor.elements)
    throw input::InputError(
        input::pointer(pointer, "files"),
        fmt::format("their tensors, [{}], have {} elements, but those of '{}' have {}",
                    fmt::join(shape, ", "), elements, step_call.group, tensor.elements));
  return tensor;
}

}  // namespace

std::vector<std::optional<TensorConfig>> read_step_values(
    input::ObjectReader& reader, const ExperimentConfig& machine, const steps::Mesh& mesh,
    const std::vector<StepCall>& calls, const std::vector<steps::ChipLists>& lists) {
  std::vector<std::optional<TensorConfig>> values(calls.size());
  if (!reader.has("values")) return values;
  const input::Json& rules = reader.array("values");
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const std::string pointer = reader.pointer_to("values", i);
    if (!rules[i].is_object()) throw input::InputError(pointer, "expected a rule (an object)");
    input::ObjectReader rule(rules[i], pointer);
    const CallFilter filter = read_where(rule, mesh);
    check_matches(filter, calls, mesh, pointer);
    TensorConfig tensor;
    read_value_keys(rule, tensor);
    tensor.sample = rule.has("sample") ? read_sample(rule) : 0.0;
    rule.finish();
    for (std::size_t call = 0; call < calls.size(); ++call) {
      if (values[call] || !filter.matches(calls[call], mesh)) continue;
      const TopologyConfig group = group_topology(machine.topology, mesh, calls[call].call, lists);
      values[call] = tensor_of(tensor, calls[call], count_chips(group), pointer);
    }
  }
  return values;
}

input::Json step_values_schema() {
  using input::Elsewhere;
  static const input::Table<input::ReadElsewhere> where{
      {"where", Elsewhere{where_schema}, "as of a rule of `quantize`; the first match applies",
       input::otherwise("all")},
  };
  static const input::Table<input::ReadElsewhere> sample{
      {"sample", Elsewhere{sample_schema}, "share of the elements to compute",
       input::otherwise("about 131,072 elements")},
  };
  input::Json values = value_keys_schema();
  values["properties"]["distribution"]["description"] =
      "synthetic values, [as for a tensor](configuration.md#tensor)";
  values["properties"]["files"]["description"] =
      "`.npy` or `.safetensors`, one per rank of a group or one with a leading rank axis";
  return {{"type", "array"}, {"items", input::joined({where.schema(), values, sample.schema()})}};
}

}  // namespace equarx::config
