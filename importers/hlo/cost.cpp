#include "importers/hlo/cost.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "importers/hlo/opcodes.hpp"
#include "importers/hlo/passes.hpp"
#include "importers/hlo/products.hpp"
#include "importers/hlo/sorts.hpp"
#include "importers/hlo/vector_costs.hpp"

namespace equarx::hlo {
namespace {

constexpr std::size_t kMaxName = 40;

double operand_elements(const Instruction& instruction, std::size_t number,
                        const Computation& computation) {
  const Instruction* operand = operand_of(instruction, number, computation);
  return operand == nullptr ? 0.0 : operand->shape.elements();
}

/// Elements of the first operand that a slice reads, or an update writes.
double touched_elements(const Instruction& instruction, const Computation& computation) {
  if (class_of(instruction.opcode) == OpClass::slice) return instruction.shape.elements();
  constexpr std::size_t kUpdateOfSlice = 1;
  constexpr std::size_t kUpdateOfScatter = 2;  // operand, indices, update
  const bool scatters = instruction.opcode == "scatter";
  return operand_elements(instruction, scatters ? kUpdateOfScatter : kUpdateOfSlice, computation);
}

double share_of(double part, double whole) {
  return whole > 0.0 ? std::min(part / whole, 1.0) : 0.0;
}

/// True if an instruction only renames or reshapes its operand.
bool is_renaming(const Instruction& instruction) { return instruction.opcode == "bitcast"; }

/// Elements of a parameter that its users read; all of them if a user is not a slice.
double elements_read(const Computation& computation, InstructionId of,
                     const std::vector<std::vector<InstructionId>>& users) {
  const double all = computation.instructions[of].shape.elements();
  double read = 0.0;
  std::vector<InstructionId> names = {of};
  for (std::size_t i = 0; i < names.size(); ++i)
    for (const InstructionId user : users[names[i]]) {
      const Instruction& by = computation.instructions[user];
      if (is_renaming(by)) {
        names.push_back(user);
        continue;
      }
      const bool is_first = by.operands.front() == names[i];
      const bool is_only_first = is_first && std::ranges::count(by.operands, names[i]) == 1;
      const OpClass kind = class_of(by.opcode);
      if (is_only_first && kind == OpClass::slice)
        read += by.shape.elements();
      else if (!is_only_first || kind != OpClass::update)
        return all;
    }
  return std::min(read, all);
}

/// Share of a value's bytes that is written: the updated part for in-place updates.
double written_share(const Computation& computation, InstructionId of) {
  const Instruction* value = &computation.instructions[of];
  while (is_renaming(*value)) {
    const Instruction* operand = operand_of(*value, 0, computation);
    if (operand == nullptr) break;
    value = operand;
  }
  if (class_of(value->opcode) != OpClass::update) return 1.0;
  return share_of(touched_elements(*value, computation), value->shape.elements());
}

std::vector<std::vector<InstructionId>> users_in(const Computation& computation) {
  std::vector<std::vector<InstructionId>> users(computation.instructions.size());
  for (InstructionId id = 0; id < users.size(); ++id)
    for (const InstructionId operand : computation.instructions[id].operands)
      if (operand != kNoInstruction && (users[operand].empty() || users[operand].back() != id))
        users[operand].push_back(id);
  return users;
}

void read(const Shape& shape, double share, bool fast_is_hbm, Cost& cost) {
  cost.hbm_bytes += share * shape.bytes_in(MemorySpace::device);
  if (fast_is_hbm) cost.hbm_bytes += share * shape.bytes_in(MemorySpace::fast);
  cost.from_host_bytes += share * shape.bytes_in(MemorySpace::host);
}

void write(const Shape& shape, double share, bool fast_is_hbm, Cost& cost) {
  cost.hbm_bytes += share * shape.bytes_in(MemorySpace::device);
  if (fast_is_hbm) cost.hbm_bytes += share * shape.bytes_in(MemorySpace::fast);
  cost.to_host_bytes += share * shape.bytes_in(MemorySpace::host);
}

/// Shape that an instruction writes. Start instructions return a tuple with in-flight state; the
/// result is element 0 for copy-start and element 1 for the others.
const Shape& written_shape(const Instruction& instruction) {
  const bool starts = split(instruction.opcode).end == AsyncEnd::start;
  const Shape& shape = instruction.shape;
  if (!starts || !shape.is_tuple || shape.parts.empty()) return shape;
  const bool is_copy = instruction.opcode == "copy-start";
  return is_copy || shape.parts.size() < 2 ? shape.parts[0] : shape.parts[1];
}

/// Reads the cost estimate of a Pallas kernel: "cost_estimate": {"flops": ..., "bytes_accessed":
/// ...}.
std::optional<double> estimate(const Instruction& instruction, std::string_view key) {
  const auto all = json_value(instruction.attribute("backend_config"), "cost_estimate");
  const auto value = all ? json_value(*all, key) : std::nullopt;
  if (!value) return std::nullopt;
  const std::vector<std::int64_t> numbers = numbers_in(*value);
  return numbers.empty() ? std::nullopt : std::optional(static_cast<double>(numbers.front()));
}

}  // namespace

Cost& Cost::operator+=(const Cost& other) {
  if (other.matrix_flops > matrix_flops) {
    products = other.products;
    kernel = other.kernel;
  }
  attention_rows += other.attention_rows;
  comparisons += other.comparisons;
  flops += other.flops;
  matrix_flops += other.matrix_flops;
  vector_ops += other.vector_ops;
  hbm_bytes += other.hbm_bytes;
  to_host_bytes += other.to_host_bytes;
  from_host_bytes += other.from_host_bytes;
  return *this;
}

Cost& Cost::operator*=(double times) {
  for (double* part : {&flops, &matrix_flops, &vector_ops, &comparisons, &attention_rows,
                       &hbm_bytes, &to_host_bytes, &from_host_bytes})
    *part *= times;
  return *this;
}

workloads::Operation operation_of(const Cost& cost, std::uint64_t times) {
  return {.name = "instruction",
          .kind = workloads::OperationKind::matrix,
          .kernel = cost.kernel,
          .flops = cost.matrix_flops,
          .products = cost.products,
          .vector_ops = cost.vector_ops,
          .comparisons = cost.comparisons,
          .attention_rows = cost.attention_rows,
          .read_bytes = cost.hbm_bytes,
          .times = times};
}

bool is_for_gpu(const Module& module) {
  for (const Computation& computation : module.computations)
    for (const Instruction& instruction : computation.instructions) {
      const std::string_view config = instruction.attribute("backend_config");
      if (config.find("operation_queue_id") != std::string_view::npos ||
          config.find("fusion_backend_config") != std::string_view::npos ||
          instruction.attribute("custom_call_target").starts_with("__cu"))
        return true;
    }
  return false;
}

const CustomCalls CostModel::kNoCalls;

CostModel::CostModel(const Module& module, const CustomCalls& calls)
    : module_(module),
      calls_(calls),
      is_gpu_(is_for_gpu(module)),
      cache_(module.computations.size()) {}

const CostModel::Inside& CostModel::inside(ComputationId id, Skipped& notes) {
  if (!cache_[id]) cache_[id] = analyze(id, notes);
  return *cache_[id];
}

CostModel::Inside CostModel::analyze(ComputationId id, Skipped& notes) {
  const Computation& computation = module_.computations[id];
  const auto users = users_in(computation);
  const std::vector<double> passes = passes_of(computation, reuse_bytes(is_gpu_));
  Inside made;
  for (InstructionId of = 0; of < computation.instructions.size(); ++of) {
    const Instruction& instruction = computation.instructions[of];
    add_work(instruction, computation, made, notes);
    if (instruction.opcode != "parameter") continue;
    const std::vector<std::int64_t> number = numbers_in(instruction.payload);
    constexpr std::int64_t kMaxParameters = 1 << 20;
    if (number.empty() || number.front() >= kMaxParameters) continue;
    const auto at = static_cast<std::size_t>(number.front());
    if (made.read_share.size() <= at) made.read_share.resize(at + 1, 1.0);
    if (!instruction.shape.is_tuple)
      made.read_share[at] =
          share_of(elements_read(computation, of, users), instruction.shape.elements()) *
          passes[of];
  }
  const Instruction& root = computation.instructions[computation.root];
  if (root.opcode != "tuple") {
    made.written = {written_share(computation, computation.root)};
  } else {
    for (const InstructionId part : root.operands)
      made.written.push_back(part == kNoInstruction ? 1.0 : written_share(computation, part));
  }
  return made;
}

double CostModel::vector_ops(const Instruction& instruction, const Computation& computation,
                             Skipped& notes) {
  const auto applied = [&] {
    double sum = 0.0;
    for (const ComputationId id : instruction.called) sum += inside(id, notes).work.vector_ops;
    return std::max(sum, 1.0);
  };
  const double first = operand_elements(instruction, 0, computation);
  switch (class_of(instruction.opcode)) {
    case OpClass::elementwise:
      return instruction.shape.elements() * ops_per_element(instruction.opcode, is_gpu_);
    case OpClass::reduction: return first * applied();
    case OpClass::window: {
      double window = 1.0;
      const std::string_view text = instruction.attribute("window");
      const std::size_t size = text.find("size=");
      if (size != std::string_view::npos)
        for (const std::int64_t length :
             numbers_in(text.substr(size, text.find_first_of(" }", size) - size)))
          window *= static_cast<double>(length);
      return written_shape(instruction).elements() * window * applied();
    }
    case OpClass::update:
      return instruction.opcode == "scatter"
                 ? touched_elements(instruction, computation) * applied()
                 : 0.0;
    default: return 0.0;
  }
}

void CostModel::add_work(const Instruction& instruction, const Computation& computation,
                         Inside& inside_of, Skipped& notes) {
  Cost& work = inside_of.work;
  const std::string_view base = split(instruction.opcode).base;
  if (is_annotation(instruction.attribute("custom_call_target"))) return;
  switch (class_of(base)) {
    case OpClass::nested:
      if (split(instruction.opcode).end != AsyncEnd::none &&
          split(instruction.opcode).end != AsyncEnd::start)
        return;
      for (const ComputationId id : instruction.called) work += inside(id, notes).work;
      return;
    case OpClass::product:
    case OpClass::custom: {
      const CustomCall* const given = given_for(instruction, calls_);
      const std::optional<Product> product =
          given == nullptr ? product_of(instruction, computation) : std::nullopt;
      const std::optional<double> estimated = estimate(instruction, "flops");
      const std::string_view target = instruction.attribute("custom_call_target");
      Cost cost;
      if (given != nullptr) {
        cost.flops = cost.matrix_flops = given->flops;
      } else if (product && (product->assumption.empty() || !estimated)) {
        cost.flops = product->flops;
        cost.matrix_flops = product->flops * product->passes;
        cost.products = product->type;
        cost.kernel = product->kernel;
        cost.attention_rows = product->attention_rows;
        if (!product->assumption.empty())
          ++notes[fmt::format("custom-call {}: {}; FLOPs can be set with --custom-call",
                              target.substr(0, kMaxName), product->assumption)];
      } else if (sorts(instruction)) {
        cost.comparisons = comparisons(instruction, computation);
      } else if (estimated) {
        cost.flops = cost.matrix_flops = *estimated;
      } else if (class_of(base) == OpClass::product) {
        ++notes[fmt::format("{} with mismatched dimension numbers: FLOPs not counted", base)];
      } else {
        ++notes[fmt::format(
            "custom-call {}: FLOPs unknown, only bytes counted; set them with "
            "--custom-call NAME=FLOPS",
            target.substr(0, kMaxName))];
      }
      work += cost;
      return;
    }
    case OpClass::unknown:
      ++notes[fmt::format("unknown opcode {}: only bytes counted",
                          instruction.opcode.substr(0, kMaxName))];
      return;
    case OpClass::sort: work.comparisons += comparisons(instruction, computation); return;
    case OpClass::other: ++notes[fmt::format("{}: only bytes counted", base)]; return;
    default: work.vector_ops += vector_ops(instruction, computation, notes);
  }
}

void CostModel::add_memory(const Instruction& instruction, const Computation& computation,
                           Cost& cost, Skipped& notes) {
  const OpClass kind = class_of(split(instruction.opcode).base);
  const CustomCall* const given = given_for(instruction, calls_);
  if (given != nullptr && given->bytes) {
    cost.hbm_bytes += *given->bytes;
    return;
  }
  if (const std::optional<double> bytes = estimate(instruction, "bytes_accessed")) {
    cost.hbm_bytes += *bytes;
    return;
  }
  const Shape& result = written_shape(instruction);
  if (kind == OpClass::slice || kind == OpClass::update) {
    const Instruction* whole = operand_of(instruction, 0, computation);
    const double share = whole == nullptr ? 1.0
                                          : share_of(touched_elements(instruction, computation),
                                                     whole->shape.elements());
    const bool updates = kind == OpClass::update;
    if (whole != nullptr && !updates) read(whole->shape, share, is_gpu_, cost);
    write(result, updates ? share : 1.0, is_gpu_, cost);
    for (std::size_t i = 1; i < instruction.operands.size(); ++i)
      if (const Instruction* operand = operand_of(instruction, i, computation))
        read(operand->shape, 1.0, is_gpu_, cost);
    return;
  }
  const Inside* called = kind == OpClass::nested && !instruction.called.empty()
                             ? &inside(instruction.called.front(), notes)
                             : nullptr;
  for (std::size_t i = 0; i < instruction.operands.size(); ++i)
    if (const Instruction* operand = operand_of(instruction, i, computation))
      read(operand->shape,
           called != nullptr && i < called->read_share.size() ? called->read_share[i] : 1.0,
           is_gpu_, cost);
  if (called == nullptr) return write(result, 1.0, is_gpu_, cost);
  const bool by_part = result.is_tuple && result.parts.size() == called->written.size();
  if (!by_part)
    return write(result, called->written.size() == 1 ? called->written.front() : 1.0, is_gpu_,
                 cost);
  for (std::size_t i = 0; i < result.parts.size(); ++i)
    write(result.parts[i], called->written[i], is_gpu_, cost);
}

Cost CostModel::of(const Instruction& instruction, const Computation& computation, Skipped& notes) {
  const SplitOpcode opcode = split(instruction.opcode);
  const OpClass kind = class_of(opcode.base);
  if (is_annotation(instruction.attribute("custom_call_target"))) return {};
  const bool is_end = opcode.end == AsyncEnd::done || opcode.end == AsyncEnd::update;
  if (is_end || kind == OpClass::free || kind == OpClass::loop || kind == OpClass::conditional ||
      kind == OpClass::collective)
    return {};
  Inside made;
  add_work(instruction, computation, made, notes);
  add_memory(instruction, computation, made.work, notes);
  return made.work;
}

}  // namespace equarx::hlo
