#include "tools/cli/compare_command.hpp"

#include "experiments/compare/report.hpp"
#include "experiments/input/json.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/messages.hpp"

namespace equarx::cli {

void compare(const CompareArguments& arguments) {
  const compare::Comparison comparison = compare::compare(arguments.a, arguments.b);
  print(arguments.json ? to_json(comparison).dump(2) + "\n" : to_table(comparison));
}

}  // namespace equarx::cli
