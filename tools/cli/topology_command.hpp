// The command `equarx-sim topology`.
#pragma once

#include "tools/cli/commands.hpp"

namespace equarx::cli {

/// A topology, from a configuration or from options that stand for its keys.
struct TopologyArguments {
  ConfigArguments config;  ///< without a path: the options below
  std::string hardware;    ///< empty: the configuration's, or TPU v5e
  std::string slice;       ///< these seven: empty if not given
  std::string mesh;
  std::string torus;
  std::string wraparound;  ///< "true,false"
  std::string ring;
  std::string fully_connected;
  std::string file;
  std::string svg;  ///< file for a picture; empty: none
  bool json = false;
};

/// Prints what a topology is like, and draws it. @throws input::InputError for the user's mistakes.
void describe_topology(const TopologyArguments& arguments);

}  // namespace equarx::cli
