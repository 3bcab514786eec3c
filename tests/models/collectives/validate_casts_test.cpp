#include <algorithm>
#include <stdexcept>
#include <string>

#include "models/collectives/casts.hpp"
#include "models/collectives/validate.hpp"
#include "tests/catch.hpp"
#include "tests/support/rings.hpp"

namespace equarx::validate_casts_test {

using namespace equarx::collectives;
using namespace equarx::testing;
using equarx::numerics::ElementFormat;

namespace {

Program cast_program() {
  const auto fp8 = ElementFormat::fp8_e5m2;
  return with_casts(make_ring_all_reduce(4, 20'000, fp8,
                                         ring(RingStyle::full_loop, {false, false}, {}, 1, 3, fp8)),
                    ElementFormat::bf16);
}

void check_rejected(const Program& program, const std::string& why) {
  CAPTURE(why);
  REQUIRE_THROWS_WITH(validate(program), ContainsSubstring("invalid program: " + why));
}

}  // namespace

TEST_CASE("a missing or duplicate cast is rejected") {
  for (const Op op : {Op::cast, Op::cast_back}) {
    Program program = cast_program();
    const auto found = std::ranges::find(program.instructions, op, &Instruction::op);
    program.instructions.erase(found);
    check_rejected(program, std::string(name(op)) + ": ");
    const auto other = std::ranges::find(program.instructions, op, &Instruction::op);
    program.instructions.insert(other, *other);
    check_rejected(program, std::string(name(op)) + ": duplicate tile");
  }
}

TEST_CASE("a cast after other work, or of the result before it, is rejected") {
  Program late = cast_program();
  std::rotate(late.instructions.begin(), late.instructions.begin() + 1, late.instructions.end());
  check_rejected(late, "a cast is out of order");
  Program early = cast_program();
  std::rotate(early.instructions.begin(), early.instructions.end() - 1, early.instructions.end());
  check_rejected(early, "a cast is out of order");
}

TEST_CASE("casts require cast_from, and cast_from requires casts") {
  Program program = cast_program();
  program.cast_from.reset();
  check_rejected(program, "a cast without cast_from");
  program = cast_program();
  std::erase_if(program.instructions, [](const Instruction& instruction) {
    return instruction.op == Op::cast || instruction.op == Op::cast_back;
  });
  check_rejected(program, "cast: 0 of ");
}

}  // namespace equarx::validate_casts_test
