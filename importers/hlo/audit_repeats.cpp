#include "importers/hlo/audit_repeats.hpp"

#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "importers/hlo/opcodes.hpp"

namespace equarx::hlo {
namespace {

using imports::AuditChange;
using imports::AuditFinding;
using imports::AuditRule;

bool is_slice(const Instruction& instruction) {
  return instruction.opcode == "slice" || instruction.opcode == "dynamic-slice";
}

/// Text that is equal for values that are equal by construction: the source of a value, sliced
/// alike.
std::string signature(const Values& values, const Value& of, int depth = 0) {
  constexpr int kMaxDepth = 32;
  const Value value = values.uncast(of);
  const Instruction& by = values.instruction(value);
  if (by.opcode == "constant" && by.shape.lengths.empty())
    return fmt::format("{} {}", by.shape.type, by.payload);
  if (!is_slice(by) || depth == kMaxDepth)
    return fmt::format("{}/{}/{}", value.computation, value.instruction,
                       value.part ? static_cast<std::int64_t>(*value.part) : -1);
  std::string text = fmt::format("{} {}(", text_of(by.shape), by.attribute("slice"));
  for (std::size_t i = 0; i < by.operands.size(); ++i)
    if (const std::optional<Value> operand = values.operand(value, i))
      text += signature(values, *operand, depth + 1) + ';';
  return text + ')';
}

/// A gather of one operand, and the origins of its input.
struct Gather {
  const AuditSite* site = nullptr;
  std::string source;            ///< signature()
  Value unscaled;                ///< before quantization
  std::optional<Value> stack;    ///< array whose layers a loop gathers, all of them
  std::optional<Value> outside;  ///< input, if it is computed outside the loops around it
  bool is_quantized = false;     ///< its elements have 8 bits or fewer
  double result_bytes = 0.0;     ///< in the type of its source
};

/// True if `computation` runs `of`, directly or through callees.
bool runs(const Values& values, ComputationId computation, ComputationId of) {
  std::optional<Value> caller = values.caller(of);
  for (; caller; caller = values.caller(caller->computation))
    if (caller->computation == computation) return true;
  return false;
}

/// The array that `input` is a layer of, if the executions take as many layers as it has.
std::optional<Value> stack_of(const Values& values, const Value& input, double times) {
  const Value slice = values.uncast(input);
  const std::optional<Value> whole =
      values.instruction(slice).opcode == "dynamic-slice" ? values.operand(slice, 0) : std::nullopt;
  if (!whole || times < 2.0) return std::nullopt;
  const double layers = values.shape(*whole).elements() / values.shape(slice).elements();
  if (layers != times) return std::nullopt;
  return values.uncast(*whole);
}

std::optional<Gather> gather_of(const AuditInput& input, const AuditSite& site) {
  const std::optional<Value> from = input.values.operand(site.inner, 0);
  if (site.op->kind != CollectiveKind::all_gather || input.operands(site) != 1 || !from)
    return std::nullopt;
  constexpr std::uint32_t kByte = 8;
  const Values& values = input.values;
  const double narrow = type_bits(values.narrowest_type(*from));
  const double wide = std::max<double>(type_bits(site.op->type), 1.0);
  Gather gather{.site = &site,
                .source = signature(values, *from),
                .unscaled = values.unscaled(*from),
                .stack = stack_of(values, *from, site.times),
                .outside = std::nullopt,
                .is_quantized = type_bits(site.op->type) <= kByte,
                .result_bytes = site.op->bytes * narrow / wide};
  const Value source = values.uncast(*from);
  if (source.computation == input.module.entry &&
      runs(values, source.computation, site.outer.computation))
    gather.outside = source;
  return gather;
}

/// The last one is preferred.
enum class Repeat : std::uint8_t { none, layers, plane, same };

/// How `later` repeats `first`, which runs before it along the same groups.
Repeat repeats(const Gather& first, const Gather& later) {
  const bool other_loop = first.site->outer.computation != later.site->outer.computation;
  Repeat repeat = Repeat::none;
  if (first.source == later.source && first.site->times >= later.site->times)
    repeat = Repeat::same;
  else if (first.is_quantized && later.is_quantized && first.unscaled == later.unscaled &&
           first.site->times == later.site->times)
    repeat = Repeat::plane;
  else if (first.stack && first.stack == later.stack && other_loop)
    repeat = Repeat::layers;
  return repeat != Repeat::none && same_groups(*first.site->op, *later.site->op) ? repeat
                                                                                 : Repeat::none;
}

std::string reason(Repeat repeat, const Gather& first) {
  switch (repeat) {
    case Repeat::same:
      return "It gathers a value that an earlier gather over the same groups has gathered.";
    case Repeat::plane:
      return "It gathers a second quantization of a value that is already gathered in 8 bits, such "
             "as the column-wise plane of an FP8 weight.";
    case Repeat::layers:
      return fmt::format(
          "It gathers all layers of an array again that an earlier loop gathered ({}).",
          first.site->op->op_name.empty() ? first.site->op->name : first.site->op->op_name);
    case Repeat::none: break;
  }
  return {};
}

std::string remedy(Repeat repeat, const AuditInput& input) {
  switch (repeat) {
    case Repeat::same:
      return input.backend == Backend::gpu
                 ? "Gather once and keep the result: name it in the program and use it twice."
                 : "Gather once and keep the result: name it in the program and use it twice; on "
                   "TPUs a larger --xla_tpu_spmd_threshold_for_allgather_cse "
                   "(LIBTPU_INIT_ARGS) merges gathers that are further apart.";
    case Repeat::plane:
      return "Gather one plane and transpose it on the chip, which needs scales per tensor or per "
             "square block; or gather the plane of the backward pass only where it is used.";
    case Repeat::layers:
      return "If HBM allows, keep the gathered layers for the backward pass, for example with a "
             "policy of jax.checkpoint that saves them. Full FSDP accepts this time for its "
             "memory.";
    case Repeat::none: break;
  }
  return {};
}

AuditFinding repeated(const AuditInput& input, Repeat repeat, const Gather& first,
                      const Gather& later) {
  const AuditSite& site = *later.site;
  AuditFinding finding = input.finding(site, AuditRule::gathered_twice);
  finding.why = reason(repeat, first);
  finding.remedy = remedy(repeat, input);
  finding.excess_bytes = site.op->bytes * site.times;
  finding.memory_bytes = first.result_bytes * (repeat == Repeat::layers ? first.site->times : 1.0);
  if (site.is_simulated())
    finding.changes.push_back({.kind = AuditChange::Kind::remove, .group = site.collective->group});
  return finding;
}

/// A gather in a loop of a value that no iteration changes.
AuditFinding invariant(const AuditInput& input, const Gather& gather) {
  const AuditSite& site = *gather.site;
  AuditFinding finding = input.finding(site, AuditRule::gathered_twice);
  finding.why = "It gathers the same value in every iteration of a loop.";
  finding.remedy = "Gather before the loop and keep the result, as for the microbatches of a step.";
  finding.excess_bytes = site.op->bytes * (site.times - 1.0);
  finding.memory_bytes = gather.result_bytes;
  if (site.is_simulated())
    finding.changes.push_back(
        {.kind = AuditChange::Kind::remove, .group = site.collective->group, .kept = 1});
  return finding;
}

}  // namespace

std::vector<AuditFinding> audit_repeats(const AuditInput& input) {
  std::vector<AuditFinding> findings;
  std::vector<Gather> gathers;
  for (const AuditSite& site : input.sites) {
    std::optional<Gather> gather = gather_of(input, site);
    if (!gather) continue;
    Repeat repeat = Repeat::none;
    const Gather* first = nullptr;
    for (const Gather& other : gathers)
      if (const Repeat of = repeats(other, *gather); of > repeat) {
        repeat = of;
        first = &other;
      }
    if (first != nullptr) findings.push_back(repeated(input, repeat, *first, *gather));
    if (repeat == Repeat::none && gather->outside && site.times > 1.0)
      findings.push_back(invariant(input, *gather));
    if (repeat != Repeat::same) gathers.push_back(std::move(*gather));
  }
  return findings;
}

}  // namespace equarx::hlo
