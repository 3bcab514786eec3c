#include "experiments/config/expert_json.hpp"

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/input/codecs.hpp"
#include "base/input/errors.hpp"
#include "base/input/fields.hpp"
#include "base/input/json.hpp"

namespace equarx::config {
namespace {

using workloads::Dispatch;
using workloads::ExpertMethod;

constexpr input::EnumNames<Dispatch, 2> kDispatches({
    {Dispatch::permute, "permute"},
    {Dispatch::einsum, "einsum"},
});

/// A number of at least 1.
struct FromOne {
  void read(input::ObjectReader& reader, std::string_view key, double& factor) const {
    factor = reader.positive_number(key);
    if (factor < 1.0)
      throw input::InputError(
          reader.pointer_to(key),
          fmt::format("is {}; the busiest chip has at least 1 times the mean", factor));
  }
  input::Json write(double factor) const { return factor; }
  input::Json schema() const { return {{"type", "number"}, {"minimum", 1}}; }
};

const input::Table<ExpertMethod>& expert_table() {
  static const input::Table<ExpertMethod> table{
      {"expert_imbalance", &ExpertMethod::imbalance, FromOne{},
       "rows of the experts of the busiest chip, relative to the mean"},
      {"capacity_factor", &ExpertMethod::capacity_factor, input::Positive{},
       "rows of every expert for a sequence, relative to the mean; further ones are dropped",
       input::otherwise("no limit")},
      {"dispatch", &ExpertMethod::dispatch, input::OneOf{kDispatches},
       "rows are gathered (`\"permute\"`), or multiplied by one-hot masks (`\"einsum\"`), which "
       "needs a `capacity_factor`"},
  };
  return table;
}

}  // namespace

void read_experts(input::ObjectReader& reader, const workloads::Transformer& model,
                  ExpertMethod& method) {
  if (!model.experts)
    for (const std::string_view key : {"expert_imbalance", "capacity_factor", "dispatch"})
      reader.reject(key, model.name + " has no experts; remove it, or use a model with some");
  expert_table().read(reader, method);
  if (method.capacity_factor && method.imbalance != 1.0)
    throw input::InputError(reader.pointer_to("expert_imbalance"),
                            "has no effect with a \"capacity_factor\", as all experts take as many "
                            "rows; remove one of them");
  if (!method.capacity_factor && method.dispatch == Dispatch::einsum)
    throw input::InputError(reader.pointer_to("dispatch"),
                            "\"einsum\" has masks for a limited number of rows; add a "
                            "\"capacity_factor\", or use \"permute\"");
}

void write_experts(const workloads::Transformer& model, const ExpertMethod& method,
                   input::Json& json) {
  if (model.experts) expert_table().write(method, json);
}

input::Json expert_schema() { return expert_table().schema(); }

}  // namespace equarx::config
