// equarx-sim export: steps and schedules for the programs of others.
#pragma once

#include <string>

#include "tools/cli/commands.hpp"

namespace equarx::cli {

/// Of `equarx-sim export`.
struct ExportArguments {
  std::string kind;        ///< "chakra", "msccl"
  ConfigArguments config;  ///< of what is exported
  std::string collective;  ///< label of that which is a schedule; empty: the first that can be
  std::string
      output;  ///< file of a schedule, "-" or empty: standard output; of traces what is before .0.et
};

/// Writes the files, and prints what was written. @throws input::InputError for the user's mistakes
void export_config(const ExportArguments& arguments);

}  // namespace equarx::cli
