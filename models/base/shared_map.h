#pragma once

// A SharedMap has results that several threads look up, and add. A result depends only on its key,
// so it does not matter which thread found it.

#include <cstddef>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

namespace orrery {

template <class Key, class Value>
class SharedMap {
 public:
  /// All is forgotten before there would be more than `most` results.
  explicit SharedMap(size_t most = std::numeric_limits<size_t>::max()) : most_(most) {}

  std::optional<Value> find(const Key& key) const {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(key);
    return found == known_.end() ? std::nullopt : std::optional(found->second);
  }

  /// Adds the result, unless the key has one. Returns that of the key.
  Value add(Key key, Value value) {
    const std::lock_guard lock(mutex_);
    if (known_.size() >= most_)
      known_.clear();
    return known_.try_emplace(std::move(key), std::move(value)).first->second;
  }

  size_t size() const {
    const std::lock_guard lock(mutex_);
    return known_.size();
  }

 private:
  const size_t most_;
  mutable std::mutex mutex_;
  std::map<Key, Value> known_;
};

}  // namespace orrery
