// Random HLO programs whose collectives lie within calls, fusions, loops, branches and asynchronous
// computations, with the number of executions of each.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace equarx::testing {

/// Executions by name of the collective instruction; 0 if it never runs.
using Executions = std::map<std::string, double>;

struct WrappedProgram {
  std::string text;
  Executions expected;
};

/// Writes programs for 8 chips. Computations take and return an f32[8], and nest up to five deep.
class WrappedPrograms {
 public:
  explicit WrappedPrograms(std::uint64_t seed) : random_(seed) {}

  WrappedProgram next() {
    text_.clear();
    made_.clear();
    count_ = 0;
    const Part main = computation(0, "ENTRY ");
    return {
        "HloModule wrapped, is_scheduled=true, num_partitions=8\n"
        "add {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n"
        "}\n" +
            text_,
        main.executions};
  }

 private:
  /// A computation, or an instruction, with what one execution of it runs.
  struct Part {
    std::string name;
    Executions executions;
    double bytes = 0.0;  ///< of the collectives

    void add(const Part& other, double times = 1.0) {
      for (const auto& [of, each] : other.executions) executions[of] += each * times;
      bytes += other.bytes * times;
    }
  };

  std::size_t below(std::size_t most) {
    return std::uniform_int_distribution<std::size_t>(0, most - 1)(random_);
  }
  std::string fresh(const char* prefix) { return prefix + std::to_string(count_++); }

  /// A computation of its own, or one that something else calls as well.
  Part callee(std::size_t depth) {
    if (!made_.empty() && below(6) == 0) return made_[below(made_.size())];
    return computation(depth, "");
  }

  Part computation(std::size_t depth, const std::string& prefix) {
    Part part{.name = fresh("c"), .executions = {}};
    std::string lines = "  p = f32[8] parameter(0)\n  i = s32[] constant(0)\n";
    std::string value = "p";
    for (std::size_t i = 1 + below(3); i-- > 0;) value = instruction(depth, value, lines, part);
    lines += "  ROOT root = f32[8] negate(" + value + ")\n";
    text_ += prefix + part.name + " {\n" + lines + "}\n";
    made_.push_back(part);
    return part;
  }

  std::string instruction(std::size_t depth, const std::string& operand, std::string& lines,
                          Part& part) {
    constexpr std::size_t kMaxDepth = 5;
    const std::size_t kind = below(depth < kMaxDepth ? 14 : 3);
    if (kind < 3) return collective(operand, lines, part, kind == 2);
    const std::string name = fresh("x");
    if (kind >= 12) return applied(name, operand, lines, part, depth);
    if (kind == 10 || kind == 11) return control(name, operand, lines, part, depth, kind == 10);
    if (kind < 6) return started(name, operand, lines, part, depth, kind == 3);
    const Part called = callee(depth + 1);
    const std::string head = "  " + name + " = f32[8] ";
    if (kind == 6) lines += head + "call(" + operand + "), to_apply=" + called.name + "\n";
    if (kind == 7 || kind == 8)
      lines += head + "fusion(" + operand + "), kind=kCustom, calls=" + called.name + "\n";
    if (kind == 9)
      lines += head + "custom-call(" + operand +
               "), custom_call_target=\"mine\", called_computations={" + called.name + "}\n";
    part.add(called);
    return name;
  }

  std::string collective(const std::string& operand, std::string& lines, Part& part, bool starts) {
    struct Kind {
      const char* opcode;
      const char* rest;
      double bytes;
    };
    constexpr const char* kGroups =
        "channel_id=1, replica_groups=[1,8]<=[8], use_global_device_ids=true";
    constexpr Kind kKinds[] = {{"all-reduce", ", to_apply=add", 32.0},
                               {"reduce-scatter", ", to_apply=add, dimensions={0}", 32.0},
                               {"all-gather", ", dimensions={0}", 256.0},
                               {"all-to-all", ", dimensions={0}", 32.0},
                               {"collective-broadcast", "", 32.0}};
    const Kind& kind = kKinds[below(std::size(kKinds))];
    const std::string name = fresh("m");
    lines += "  " + name + " = f32[8] " + kind.opcode + (starts ? "-start" : "") + "(" + operand +
             "), " + kGroups + kind.rest + "\n";
    part.executions[name] += 1.0;
    part.bytes += kind.bytes;
    return starts ? done(name, kind.opcode, lines) : name;
  }

  /// The end of a pair, sometimes after other work, and sometimes left out.
  std::string done(const std::string& start, const std::string& opcode, std::string& lines) {
    if (below(2) == 0) lines += "  " + fresh("w") + " = f32[8] negate(p)\n";
    if (below(5) == 0) return "p";
    const std::string name = fresh("d");
    lines += "  " + name + " = f32[8] " + opcode + "-done(" + start + ")\n";
    return name;
  }

  std::string started(const std::string& name, const std::string& operand, std::string& lines,
                      Part& part, std::size_t depth, bool calls) {
    const Part called = callee(depth + 1);
    const std::string opcode = calls ? "call" : "async";
    lines += "  " + name + " = ((f32[8]), f32[8], u32[]) " + opcode + "-start(" + operand + "), " +
             (calls ? "to_apply=" : "calls=") + called.name + "\n";
    part.add(called);
    return done(name, opcode, lines);
  }

  std::string control(const std::string& name, const std::string& operand, std::string& lines,
                      Part& part, std::size_t depth, bool is_loop) {
    const Part one = callee(depth + 1);
    Part other = callee(depth + 1);
    if (is_loop) {
      const std::size_t times = below(4);
      lines += "  " + name + " = f32[8] while(" + operand + "), condition=" + other.name +
               ", body=" + one.name + ", backend_config={\"known_trip_count\":{\"n\":\"" +
               std::to_string(times) + "\"}}\n";
      part.add(one, static_cast<double>(times));
      part.add(other, static_cast<double>(times) + 1.0);
      return name;
    }
    if (one.bytes == other.bytes) other = one;  // a tie that other work would decide
    lines += "  " + name + " = f32[8] conditional(i, " + operand + ", " + operand +
             "), branch_computations={" + one.name + ", " + other.name + "}\n";
    part.add(one, one.bytes >= other.bytes ? 1.0 : 0.0);
    part.add(other, one.bytes >= other.bytes ? 0.0 : 1.0);
    return name;
  }

  /// Computations that are applied to elements hold no collectives that run.
  std::string applied(const std::string& name, const std::string& operand, std::string& lines,
                      Part& part, std::size_t depth) {
    const Part called = callee(depth + 1);
    constexpr const char* kOpcodes[] = {"map", "sort", "reduce", "frobnicate"};
    const std::string opcode = kOpcodes[below(std::size(kOpcodes))];
    lines += "  " + name + " = f32[8] " + opcode + "(" + operand + "), dimensions={0}, " +
             (opcode == "frobnicate" ? "runs=%" : "to_apply=") + called.name + "\n";
    part.add(called, 0.0);
    return name;
  }

  std::mt19937_64 random_;
  std::string text_;
  std::vector<Part> made_;
  std::size_t count_ = 0;
};

}  // namespace equarx::testing
