#include "importers/hlo/parser.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/exceptions/exceptions.hpp"
#include "importers/hlo/call_depth.hpp"

namespace equarx::hlo {
namespace {

/// Source location tables: a name, then lines that begin with a number.
constexpr std::array<std::string_view, 4> kTables = {"FileNames", "FunctionNames", "FileLocations",
                                                     "StackFrames"};
/// Attributes that name computations. Others do so if their value is "%name" of one.
constexpr std::array<std::string_view, 11> kCalls = {"calls",
                                                     "to_apply",
                                                     "condition",
                                                     "body",
                                                     "true_computation",
                                                     "false_computation",
                                                     "branch_computations",
                                                     "called_computations",
                                                     "select",
                                                     "scatter",
                                                     "comparator"};

/// Value of an attribute without its quotes: "{\"n\":7}", the form of XLA before autumn 2023, is
/// {"n":7}. Values with escapes are added to `others`.
std::string_view unquoted(std::string_view value, std::deque<std::string>& others) {
  const bool quoted = value.size() >= 2 && value.front() == '"' && value.back() == '"';
  if (!quoted) return value;
  value = value.substr(1, value.size() - 2);
  if (value.find('\\') == std::string_view::npos) return value;
  std::string& plain = others.emplace_back();
  plain.reserve(value.size());
  for (std::size_t i = 0; i < value.size(); ++i) {
    const bool escapes =
        value[i] == '\\' && i + 1 < value.size() && (value[i + 1] == '"' || value[i + 1] == '\\');
    if (escapes) ++i;
    plain += value[i];
  }
  return plain;
}

/// True if the parentheses of an opcode hold a value instead of operands.
bool has_payload(std::string_view opcode) { return opcode == "parameter" || opcode == "constant"; }

class Parser {
 public:
  explicit Parser(std::string text)
      : text_(std::make_shared<ModuleText>(ModuleText{std::move(text), {}})),
        scanner_(text_->text) {}

  Module read() {
    read_header();
    while (!scanner_.at_end()) read_part();
    if (!has_entry_) throw scanner_.error("no ENTRY computation; is the file truncated?");
    resolve_calls();
    check_calls(module_);
    module_.text = std::move(text_);
    return std::move(module_);
  }

 private:
  void read_header() {
    if (!scanner_.take("HloModule")) throw foreign_text();
    module_.name = scanner_.name();
    read_attributes([&](std::string_view key, std::string_view value) {
      const std::vector<std::int64_t> numbers = numbers_in(value);
      constexpr std::int64_t kMaxCount = 1 << 24;
      const auto count = static_cast<std::uint32_t>(
          numbers.empty() ? 1 : std::clamp<std::int64_t>(numbers.front(), 1, kMaxCount));
      if (key == "replica_count" || key == "num_partitions") module_.has_chip_count = true;
      if (key == "is_scheduled") module_.is_scheduled = value == "true";
      if (key == "num_partitions") module_.partitions = count;
      if (key == "replica_count") module_.replicas = count;
    });
    scanner_.skip_line();
  }

  exceptions::UserError foreign_text() {
    const std::string_view text = scanner_.text();
    for (const std::string_view dialect : {"stablehlo.", "mhlo.", "module @", "module attributes"})
      if (text.find(dialect) != std::string_view::npos)
        return scanner_.error(
            "is StableHLO, which is neither partitioned nor optimized; write HLO text in Python: "
            "compiled = jax.jit(f).lower(x).compile(); "
            "open(\"f.hlo.txt\", \"w\").write(compiled.as_text())");
    return scanner_.error(
        "is not HLO text, which begins with \"HloModule\"; XLA writes it with "
        "--xla_dump_hlo_as_text, JAX with compiled.as_text()");
  }

  /// Reads a computation or a table, or skips a line that is neither.
  void read_part() {
    const std::size_t begin = scanner_.position();
    const bool is_entry = scanner_.take("ENTRY ");
    const std::string_view name = scanner_.name();
    if (std::ranges::find(kTables, name) != kTables.end()) return skip_table();
    if (!name.empty() && take_signature()) return read_computation(name, is_entry);
    scanner_.move_to(begin);
    scanner_.skip_line();
    ++module_.skipped["line outside any computation"];
  }

  void skip_table() {
    scanner_.skip_line();
    while (scanner_.peek() >= '0' && scanner_.peek() <= '9') scanner_.skip_line();
  }

  /// Skips "(a: f32[2]) -> f32[2] {"; everything before the brace is optional.
  bool take_signature() {
    if (scanner_.peek() == '(') scanner_.bracketed();
    if (scanner_.take("->")) read_shape(scanner_);
    return scanner_.take("{");
  }

  void read_computation(std::string_view name, bool is_entry) {
    const auto id = static_cast<ComputationId>(module_.computations.size());
    if (!computations_.emplace(name, id).second)
      throw scanner_.error(fmt::format("duplicate computation '{}'", name));
    module_.computations.push_back({.name = std::string(name), .instructions = {}, .root = 0});
    instructions_.clear();
    calls_.emplace_back();
    module_.computations.back().instructions.reserve(expected_instructions());
    bool has_root = false;
    while (!scanner_.take("}")) {
      if (scanner_.at_end())
        throw scanner_.error(
            fmt::format("the text ends within computation '{}'; is it truncated?", name));
      if (read_line(module_.computations.back())) has_root = true;
    }
    read_attributes([](std::string_view, std::string_view) {});
    Computation& computation = module_.computations.back();
    if (computation.instructions.empty())
      throw scanner_.error(fmt::format("computation '{}' has no instructions", name));
    if (!has_root)
      computation.root = static_cast<InstructionId>(computation.instructions.size() - 1);
    if (is_entry) module_.entry = id;
    has_entry_ = has_entry_ || is_entry;
  }

  /// Estimates the number of instructions: lines up to the brace that ends the computation, at the
  /// beginning of a line as XLA writes it. 0 if they are counted for a previous computation.
  std::size_t expected_instructions() {
    constexpr std::size_t kShortLine = 32;
    const std::size_t begin = scanner_.position();
    if (begin < counted_to_) return 0;
    counted_to_ = std::min(scanner_.text().find("\n}", begin), scanner_.text().size());
    const std::string_view body = scanner_.text().substr(begin, counted_to_ - begin);
    const auto lines = static_cast<std::size_t>(std::ranges::count(body, '\n'));
    return std::min(lines, body.size() / kShortLine);
  }

  /// Reads an instruction or skips the line. Returns true for the root.
  bool read_line(Computation& computation) {
    const std::size_t begin = scanner_.position();
    const bool is_root = scanner_.take("ROOT ");
    Instruction instruction;
    instruction.line = scanner_.line();
    instruction.name = scanner_.name();
    if (instruction.name.empty() || !scanner_.take("=")) {
      scanner_.move_to(begin);
      scanner_.skip_line();
      ++module_.skipped["line that is not an instruction"];
      return false;
    }
    read_right_side(instruction);
    const auto id = static_cast<InstructionId>(computation.instructions.size());
    if (!instructions_.emplace(instruction.name, id).second)
      throw scanner_.error(fmt::format("duplicate instruction '{}'", instruction.name));
    if (is_root) computation.root = id;
    instruction.operands.shrink_to_fit();
    instruction.attributes.shrink_to_fit();
    computation.instructions.push_back(std::move(instruction));
    return is_root;
  }

  void read_right_side(Instruction& instruction) {
    instruction.shape = read_shape(scanner_);
    count_unknown_types(instruction.shape);
    instruction.opcode = scanner_.word();
    if (instruction.opcode.empty() || scanner_.peek() != '(')
      throw scanner_.error(
          fmt::format("expected an opcode with its operands in '{}'", instruction.name));
    const std::string_view inner = scanner_.bracketed();
    if (has_payload(instruction.opcode))
      instruction.payload = inner.substr(0, kMaxPayload);
    else
      read_operands(inner, instruction);
    std::vector<Called>& called = calls_.back().emplace_back();
    read_attributes([&](std::string_view key, std::string_view value) {
      const bool is_known = std::ranges::find(kCalls, key) != kCalls.end();
      const bool names_something = value.starts_with("%") || value.starts_with("{%");
      if (is_known || (names_something && key != "control-predecessors"))
        called.push_back({.names = value, .is_certain = is_known});
      // The device_ids of a mesh continue the value of the attribute before.
      if (key == "device_ids" && !instruction.attributes.empty())
        instruction.attributes.back().second = text_->others.emplace_back(
            fmt::format("{}, device_ids={}", instruction.attributes.back().second, value));
      else
        instruction.attributes.emplace_back(key, unquoted(value, text_->others));
    });
  }

  void count_unknown_types(const Shape& shape) {
    for (const Shape& part : shape.parts) count_unknown_types(part);
    if (!shape.is_tuple && !is_known_type(shape.type))
      ++module_.skipped[fmt::format("unknown type {}", shape.type.substr(0, kMaxName))];
  }

  /// Reads operands: "f32[2]{0} %a, %b". The last word of each is its name.
  void read_operands(std::string_view text, Instruction& instruction) {
    Scanner inner(text);
    while (!inner.at_end()) {
      const std::string_view operand = inner.value(",");
      if (!inner.take(",") && operand.empty()) break;
      const std::size_t space = operand.find_last_of(" %/");
      const std::string_view name =
          space == std::string_view::npos ? operand : operand.substr(space + 1);
      if (name.empty()) continue;
      instruction.operands.push_back(operand_named(name));
      if (instruction.operands.back() == kNoInstruction) ++module_.skipped["undefined operand"];
    }
  }

  /// Finds an instruction of the current computation. "x#1" is element 1 of tuple x, the short form
  /// of XLA since 2026; the get-tuple-element of the long form is added.
  InstructionId operand_named(std::string_view name) {
    if (const auto known = instructions_.find(name); known != instructions_.end())
      return known->second;
    const std::size_t hash = name.rfind('#');
    if (hash == std::string_view::npos) return kNoInstruction;
    const InstructionId tuple = operand_named(name.substr(0, hash));
    std::vector<Instruction>& instructions = module_.computations.back().instructions;
    const std::string_view digits = name.substr(hash + 1);
    std::size_t index = 0;
    const auto [end, problem] =
        std::from_chars(digits.data(), digits.data() + digits.size(), index);
    if (tuple == kNoInstruction || problem != std::errc() || end != digits.data() + digits.size() ||
        index >= instructions[tuple].shape.parts.size())
      return kNoInstruction;
    const auto id = static_cast<InstructionId>(instructions.size());
    instructions.push_back({.name = name,
                            .shape = instructions[tuple].shape.parts[index],
                            .opcode = "get-tuple-element",
                            .operands = {tuple},
                            .payload = {},
                            .attributes = {{"index", digits}},
                            .called = {},
                            .line = scanner_.line()});
    calls_.back().emplace_back();
    instructions_.emplace(name, id);
    return id;
  }

  /// Reads ", key=value, key=value"; a comma at the end of a line continues on the next one.
  template <typename Use>
  void read_attributes(Use use) {
    while (!scanner_.at_line_end() && scanner_.take(",")) {
      const std::string_view key = scanner_.word();  // may be on the next line
      if (!key.empty() && !scanner_.at_line_end() && scanner_.take("=")) {
        use(key, attribute_value());
      } else {
        scanner_.value(",");
        ++module_.skipped["attribute without a value"];
      }
    }
    if (scanner_.at_line_end() || scanner_.peek() == '}') return;
    scanner_.skip_line();
    ++module_.skipped["trailing text on a line"];
  }

  /// Reads up to a comma; those within "@mesh<a=2,b=4>" belong to the value.
  std::string_view attribute_value() {
    std::string_view value = scanner_.value(",");
    while (value.starts_with("@mesh<") && value.find('>') == std::string_view::npos &&
           scanner_.take(",")) {
      const char* const begin = value.data();
      const std::string_view rest = scanner_.value(",");
      value = {begin, static_cast<std::size_t>(rest.data() + rest.size() - begin)};
    }
    return value;
  }

  void resolve_calls() {
    for (ComputationId id = 0; id < calls_.size(); ++id)
      for (InstructionId of = 0; of < calls_[id].size(); ++of)
        for (const Called& called : calls_[id][of])
          resolve(called, module_.computations[id].instructions[of]);
  }

  /// An attribute that names computations, or that may name them.
  struct Called {
    std::string_view names;  ///< "%a" or "{%a, %b}"
    bool is_certain = true;
  };

  void resolve(const Called& attribute, Instruction& instruction) {
    std::string_view value = attribute.names;
    if (value.starts_with("{"))
      value = value.substr(1, value.size() - (value.ends_with("}") ? 2 : 1));
    Scanner names(value);
    while (!names.at_end()) {
      const std::string_view name = names.name();
      const auto known = computations_.find(name);
      if (known != computations_.end())
        instruction.called.push_back(known->second);
      else if (attribute.is_certain)
        ++module_.skipped["undefined computation"];
      if (!names.take(",")) break;
    }
  }

  static constexpr std::size_t kMaxPayload = 64;
  static constexpr std::size_t kMaxName = 32;

  std::shared_ptr<ModuleText> text_;
  Scanner scanner_;
  Module module_;
  bool has_entry_ = false;
  std::size_t counted_to_ = 0;  ///< end of the lines of expected_instructions()
  std::unordered_map<std::string_view, ComputationId> computations_;
  std::unordered_map<std::string_view, InstructionId> instructions_;  // of the current computation
  /// Values of attributes that name computations, by computation and instruction.
  std::vector<std::vector<std::vector<Called>>> calls_;
};

}  // namespace

Module parse_module(std::string text) { return Parser(std::move(text)).read(); }

}  // namespace equarx::hlo
