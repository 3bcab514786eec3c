// Execution trace of one chip in the form of MLCommons Chakra: nodes and their dependencies.
//
// Names and meanings follow Chakra's schema (schema/protobuf/et_def.proto); sizes follow ASTRA-sim,
// which runs such traces (astra-sim/workload).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace equarx::chakra {

/// NodeType of the schema; the values are its numbers.
enum class NodeKind : std::uint8_t {
  invalid = 0,
  metadata = 1,
  load = 2,   ///< from memory outside the chip
  store = 3,  ///< to memory outside the chip
  compute = 4,
  send = 5,
  receive = 6,
  collective = 7,
};

/// CollectiveCommType of the schema; the values are its numbers.
enum class CollectiveKind : std::uint8_t {
  all_reduce = 0,
  reduce = 1,
  all_gather = 2,
  gather = 3,
  scatter = 4,
  broadcast = 5,
  all_to_all = 6,
  reduce_scatter = 7,
  reduce_scatter_block = 8,
  barrier = 9,
};

/// Returns the lower-case name with hyphens, such as "all-reduce".
std::string_view name(CollectiveKind kind);

/// One node. Absent attributes are 0 or empty.
struct Node {
  std::uint64_t id = 0;  ///< unique within the trace
  std::string name = {};
  NodeKind kind = NodeKind::invalid;
  std::vector<std::uint64_t> after = {};  ///< ids of its control and data dependencies
  double duration_s = 0.0;                ///< as recorded; 0 if the trace has none
  bool on_host = false;                   ///< is_cpu_op: runs on the host, not on the chip
  double operations = 0.0;                ///< num_ops of a computation
  double bytes = 0.0;  ///< tensor_size of a computation, load or store; comm_size of communication
  CollectiveKind collective = CollectiveKind::all_reduce;
  std::string group = {};         ///< pg_name of a collective; empty or "0": all chips
  std::uint32_t source = 0;       ///< comm_src: sending chip of a send or receive
  std::uint32_t destination = 0;  ///< comm_dst: receiving chip of a send or receive
  std::uint32_t tag = 0;          ///< comm_tag: pairs a send with its receive
  /// involved_dim: network dimensions a collective spans; all if empty.
  std::vector<bool> dimensions = {};
  std::string inputs = {};  ///< values of the inputs of a metadata node: process groups in JSON

  bool operator==(const Node&) const = default;
};

/// Trace of one chip.
struct Trace {
  std::string version;
  std::vector<Node> nodes;

  bool operator==(const Trace&) const = default;
};

}  // namespace equarx::chakra
