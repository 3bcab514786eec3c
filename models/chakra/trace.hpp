// An execution trace of one chip, as MLCommons Chakra has them: nodes, and what each waits for.
//
// Names and meanings are those of Chakra's schema (schema/protobuf/et_def.proto), sizes those of ASTRA-sim, which runs
// such traces (astra-sim/workload).
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
  load = 2,   ///< from memory that is not the chip's own
  store = 3,  ///< to it
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

/// "all-reduce", ...
std::string_view name(CollectiveKind kind);

/// One node. Attributes that it has not are 0 or empty.
struct Node {
  std::uint64_t id = 0;  ///< no other node of the trace has it
  std::string name = {};
  NodeKind kind = NodeKind::invalid;
  std::vector<std::uint64_t> after = {};  ///< nodes that it waits for, of control and of data
  double duration_s = 0.0;                ///< that was recorded
  bool on_host = false;                   ///< is_cpu_op: the host does it, and not the chip
  double operations = 0.0;                ///< num_ops, of a computation
  double bytes = 0.0;  ///< tensor_size of a computation, load or store; comm_size of communication
  CollectiveKind collective = CollectiveKind::all_reduce;
  std::string group = {};         ///< pg_name, of a collective: empty or "0" are all chips
  std::uint32_t source = 0;       ///< comm_src, the chip that a send or receive is from
  std::uint32_t destination = 0;  ///< comm_dst, the one that it is to
  std::uint32_t tag = 0;          ///< comm_tag, the same of a send and of its receive
  /// involved_dim: along which dimensions of the network a collective goes; all if empty.
  std::vector<bool> dimensions = {};
  std::string inputs = {};  ///< values of inputs, of metadata: process groups in JSON

  bool operator==(const Node&) const = default;
};

/// What one chip does.
struct Trace {
  std::string version;
  std::vector<Node> nodes;

  bool operator==(const Trace&) const = default;
};

}  // namespace equarx::chakra
