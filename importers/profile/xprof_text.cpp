#include "importers/profile/xprof_text.hpp"

#include <algorithm>
#include <array>

#include "base/exceptions/exceptions.hpp"
#include "base/os/printable.hpp"
#include "importers/common/imported_collective.hpp"
#include "importers/hlo/collectives.hpp"
#include "importers/hlo/scanner.hpp"
#include "importers/hlo/shape_text.hpp"
#include "importers/hlo/tensor_types.hpp"

namespace equarx::profile {
namespace {

/// Arrays of a shape: bytes, and the type with the most of them.
struct Data {
  std::string type;
  double bytes = 0.0;
  double most = 0.0;  ///< bytes of `type`'s largest array
};

void add_arrays(const hlo::Shape& shape, Data& data) {
  for (const hlo::Shape& part : shape.parts) add_arrays(part, data);
  if (shape.is_tuple) return;
  const double bytes = shape.bytes();
  data.bytes += bytes;
  if (data.type.empty() || bytes > data.most) {
    data.type = shape.type;
    data.most = bytes;
  }
}

/// The result of a collective. A start has a tuple of operands, results and others, except for an
/// all-reduce-start, which has the results of its all-reduce (xla/service/hlo_verifier.cc).
Data result_of(const hlo::Shape& shape, std::string_view opcode) {
  Data data;
  const bool has_operands = hlo::split(opcode).end == hlo::AsyncEnd::start &&
                            hlo::split(opcode).base != "all-reduce" && shape.parts.size() >= 2;
  add_arrays(has_operands ? shape.parts[1] : shape, data);
  return data;
}

/// The last name in a list of operands, "f32[8]{0} %x"; empty if it has none.
std::string last_name(std::string_view operands) {
  const std::size_t at = operands.rfind('%');
  if (at == std::string_view::npos) return {};
  hlo::Scanner scanner(operands.substr(at));
  return os::printable(scanner.name());
}

void read_attributes(hlo::Scanner& scanner, HloText& made) {
  while (scanner.take(",")) {
    const std::string key(scanner.word());
    if (!scanner.take("=")) continue;
    const std::string value(scanner.value(","));
    if (key == "replica_groups" || key == "source_target_pairs") made.groups = value;
    if (key == "channel_id") made.has_channel = true;
    if (key == "use_global_device_ids") made.has_global_ids = value == "true";
    if (key == "to_apply") made.to_apply = value;
  }
}

hlo::Instruction instruction_of(const HloText& text) {
  hlo::Instruction made;
  made.opcode = text.opcode;
  made.attributes = {{"replica_groups", text.groups}, {"source_target_pairs", text.groups}};
  if (text.has_channel) made.attributes.emplace_back("channel_id", "1");
  if (text.has_global_ids) made.attributes.emplace_back("use_global_device_ids", "true");
  return made;
}

/// A run of one replica of `chips` partitions, unless groups are numbered by replicas.
hlo::Module module_of(const hlo::Instruction& instruction, std::uint32_t chips) {
  hlo::Module module;
  const bool by_replicas = hlo::numbers_of(instruction) == hlo::Numbers::replicas;
  (by_replicas ? module.replicas : module.partitions) = chips;
  return module;
}

/// True for a reduction whose name excludes a sum: "%maximum.3".
bool is_other_reduction(const std::string& to_apply) {
  return std::ranges::any_of(
      std::array<std::string_view, 5>{"max", "min", "and", "or.", "mul"},
      [&](std::string_view part) { return to_apply.find(part) != std::string::npos; });
}

}  // namespace

std::optional<HloText> read_hlo_text(std::string_view text) {
  hlo::Scanner scanner(text);
  HloText made;
  scanner.take("ROOT ");
  made.name = os::printable(scanner.name());
  if (made.name.empty() || !scanner.take("=")) return std::nullopt;
  try {
    const hlo::Shape shape = hlo::read_shape(scanner);
    made.opcode = scanner.word();
    const Data data = result_of(shape, made.opcode);
    made.type = data.type;
    made.bytes = data.bytes;
    if (scanner.peek() != '(') return std::nullopt;
    made.operand = last_name(scanner.bracketed());
    read_attributes(scanner, made);
  } catch (const exceptions::UserError&) {  // truncated
    return std::nullopt;
  }
  return made;
}

bool is_collective(const HloText& text) {
  return hlo::collective_kind(hlo::split(text.opcode).base).has_value();
}

std::uint64_t least_chips(const HloText& text) {
  const hlo::Instruction instruction = instruction_of(text);
  if (hlo::numbers_of(instruction) == hlo::Numbers::replicas_with_all_partitions) return 0;
  const std::optional<std::uint64_t> largest = hlo::largest_number(instruction);
  return largest ? *largest + 1 : 0;
}

Call xprof_call(const HloText& text, std::uint32_t chips) {
  const hlo::CollectiveKind kind = hlo::collective_kind(hlo::split(text.opcode).base).value();
  const auto [format, is_exact] = steps::tensor_type(text.type);
  Call call{.name = text.name,
            .sequence = {},
            .kind = std::string(hlo::name(kind)),
            .type = text.type,
            .bytes = text.bytes,
            .format = format};
  call.collective = steps::collective_of(kind);
  if (!call.collective) {
    call.obstacle = "permutes are not compared";
    return call;
  }
  const hlo::Instruction instruction = instruction_of(text);
  const auto groups = hlo::groups_of(instruction, module_of(instruction, chips));
  if (!groups || groups->empty() || groups->front().empty()) {
    call.obstacle = "unreadable replica_groups '" + os::printable(text.groups.substr(0, 40)) + "'";
    return call;
  }
  call.groups = *groups;
  call.chips = static_cast<std::uint32_t>(groups->front().size());
  if (kind == hlo::CollectiveKind::reduce_scatter) call.bytes *= call.chips;
  if (call.bytes <= 0.0) call.obstacle = "moves no data";
  call.can_quantize = is_exact && steps::is_wide(format) && !is_other_reduction(text.to_apply);
  return call;
}

}  // namespace equarx::profile
