#pragma once

// A SharedMap has results that several threads look up, and make. A result depends only on its key,
// so it does not matter which thread made it.

#include <condition_variable>
#include <cstddef>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace orrery {

template <class Key, class Value>
class SharedMap {
 public:
  /// All results that are made are forgotten before there would be more than `most` keys.
  explicit SharedMap(size_t most = std::numeric_limits<size_t>::max()) : most_(most) {}

  /// Returns the result of the key. If there is none, it is that of make(). One thread makes it;
  /// others that ask for the key meanwhile wait. If make() throws, the next of them makes it.
  /// `make` must not ask this map for anything.
  template <class Make>
  Value get(const Key& key, Make&& make) {
    std::unique_lock lock(mutex_);
    if (known_.size() >= most_ && !known_.contains(key))
      std::erase_if(known_, [](const auto& each) { return !each.second->is_being_made; });
    const std::shared_ptr<Result> result =
        known_.try_emplace(key, std::make_shared<Result>()).first->second;
    made_.wait(lock, [&] { return !result->is_being_made; });
    if (result->value)
      return *result->value;
    result->is_being_made = true;
    lock.unlock();
    std::optional<Value> value;
    try {
      value = make();
    } catch (...) {
      lock.lock();
      result->is_being_made = false;
      made_.notify_all();
      throw;
    }
    lock.lock();
    result->is_being_made = false;
    result->value = std::move(value);
    made_.notify_all();
    return *result->value;
  }

  size_t size() const {
    const std::lock_guard lock(mutex_);
    return known_.size();
  }

 private:
  struct Result {
    std::optional<Value> value;
    bool is_being_made = false;
  };

  const size_t most_;
  mutable std::mutex mutex_;
  std::condition_variable made_;
  std::map<Key, std::shared_ptr<Result>> known_;
};

}  // namespace orrery
