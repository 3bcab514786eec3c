// Blocks of a KV cache that are found again by their contents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <unordered_map>
#include <vector>

namespace equarx::serving {

/// Contents of a full block: its position in a text, together with all blocks before it.
struct BlockContents {
  std::uint64_t text = 0;
  std::uint64_t index = 0;

  bool operator==(const BlockContents&) const = default;
};

/// Positions of a sequence as texts: a prefix that others may share, then its own.
struct BlockText {
  std::uint64_t prefix = 0;         ///< text of the prefix
  std::uint64_t prefix_blocks = 0;  ///< full ones
  std::uint64_t own = 0;            ///< text of all later blocks

  BlockContents contents(std::uint64_t index) const {
    return {index < prefix_blocks ? prefix : own, index};
  }
};

/// Blocks of a sequence in order.
struct HeldBlocks {
  std::vector<std::uint32_t> blocks = {};
  std::uint64_t named = 0;  ///< leading blocks with known contents
};

/// Blocks with a number of users. Full blocks keep their contents after their last user, until a
/// new block is needed and they are the least recently used.
/// Source: vLLM, vllm/v1/core/block_pool.py and kv_cache_manager.py (prefix caching).
class BlockPool {
 public:
  explicit BlockPool(std::uint64_t blocks) : unused_(blocks) {}

  /// Leading blocks of a text that are present, up to `most`.
  std::uint64_t present(const BlockText& text, std::uint64_t most) const;

  /// Extends `held` to `blocks`, the first `full` of which are full from then on. Without held
  /// blocks it begins with up to `reused` that are present. False without any change if there are
  /// too few free blocks.
  bool extend(HeldBlocks& held, const BlockText& text, std::uint64_t blocks, std::uint64_t full,
              std::uint64_t reused);

  /// Ends the use of all blocks; the last one is evicted first.
  void release(HeldBlocks& held);

  std::uint64_t used() const { return states_.size() - idle_.size(); }
  std::uint64_t evictions() const { return evictions_; }  ///< of full blocks

 private:
  struct Hash {
    std::size_t operator()(const BlockContents& contents) const;
  };

  struct Block {
    std::uint32_t users = 0;
    std::optional<BlockContents> contents = {};     ///< if full
    std::list<std::uint32_t>::iterator place = {};  ///< in `idle_`, without users
  };

  void use(std::uint32_t block);
  std::uint32_t take();
  void forget(std::uint32_t block);
  void name(std::uint32_t block, const BlockContents& contents);

  std::uint64_t unused_;           ///< never used so far
  std::vector<Block> states_;      ///< of all others
  std::list<std::uint32_t> idle_;  ///< least recently used first
  std::unordered_map<BlockContents, std::vector<std::uint32_t>, Hash> by_contents_;
  std::uint64_t evictions_ = 0;
};

}  // namespace equarx::serving
