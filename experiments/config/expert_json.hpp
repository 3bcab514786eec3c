// Keys of the experts of a served or trained model.
#pragma once

#include "base/input/object_reader.hpp"
#include "models/workloads/experts.hpp"

namespace equarx::config {

/// Reads the keys of experts, next to others of a workload or training. @throws input::InputError for
/// a model without experts, and for keys that exclude each other
void read_experts(input::ObjectReader& reader, const workloads::Transformer& model,
                  workloads::ExpertMethod& method);

/// Adds the keys, if the model has experts.
void write_experts(const workloads::Transformer& model, const workloads::ExpertMethod& method,
                   input::Json& json);

/// Schema of an object with these keys alone, with annotations.
input::Json expert_schema();

}  // namespace equarx::config
