#pragma once

// Attributes are the parameters of an op, by their JSON names. The op's rules (rules.h) have the
// names and the kind of each. Readers, writers and type rules all use that table, so a new
// parameter is stated once.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "models/array/dtype.h"
#include "models/base/quantity.h"

namespace orrery {

/// A ParameterKind says how a scenario writes a parameter, and which alternative of Attribute has
/// it.
enum class ParameterKind : uint8_t {
  Boolean,       // bool
  Integer,       // int64_t
  Number,        // NumberOrPair: 1.5, or "Infinity", "-Infinity", "NaN", or a pair of them
  Text,          // std::string
  Names,         // std::vector<std::string>: one axis name of the mesh, or a list of them
  Integers,      // std::vector<int64_t>
  IntegerLists,  // std::vector<std::vector<int64_t>>: groups, permutations
  /// A std::vector<std::vector<int64_t>>, always of four lists: lhs contracting, rhs contracting,
  /// lhs batch, rhs batch. It is written nested, as for jax.lax.dot_general: [[[1],[0]],[[],[]]].
  DimensionNumbers,
  DtypeName,  // Dtype
  FlopCount,  // Flops: "2 TFLOP"
  ByteCount,  // Bytes: "1 GiB"
  WorkCount,  // Work: {"flops": "2 TFLOP", "bytes": "1 GiB"}
  Functions,  // SharedCoreMap: the functions of an mpmd_map, with its other keys
};

/// Work is the cost of a computation that is known by its cost alone: its operations, and the bytes
/// that it reads and writes.
struct Work {
  Flops flops;
  Bytes bytes;
  friend auto operator<=>(const Work&, const Work&) = default;
};

struct CoreMap;
/// A SharedCoreMap is a CoreMap (core_map.h), which copies of an op share.
class SharedCoreMap {
 public:
  explicit SharedCoreMap(std::shared_ptr<const CoreMap> map) : map_(std::move(map)) {}
  const CoreMap& operator*() const { return *map_; }
  const CoreMap* operator->() const { return map_.get(); }
  /// Compares the maps.
  friend bool operator==(const SharedCoreMap& a, const SharedCoreMap& b);
  /// Parameters are only sorted if they are those of collectives, which have no functions.
  friend bool operator<(const SharedCoreMap& a, const SharedCoreMap& b);

 private:
  std::shared_ptr<const CoreMap> map_;
};

using Attribute = std::variant<bool, int64_t, NumberOrPair, std::string, std::vector<std::string>,
                               std::vector<int64_t>, std::vector<std::vector<int64_t>>, Dtype,
                               Flops, Bytes, Work, SharedCoreMap>;

/// Returns whether `attribute` is the alternative that holds parameters of this kind.
bool holds(const Attribute& attribute, ParameterKind kind);

/// Describes a parameter of this kind in messages: "an integer", "an axis name or a list of them".
std::string_view description(ParameterKind kind);

/// Attributes has the parameters of an op, in name order. Getters require that the parameter is
/// there and of that kind. The builder checks this by the op's rules.
class Attributes {
 public:
  void set(std::string name, Attribute value) {
    values_.insert_or_assign(std::move(name), std::move(value));
  }
  /// Removes the parameter and returns it, or returns nothing if it is not there.
  std::optional<Attribute> take(std::string_view name);
  bool has(std::string_view name) const { return values_.find(name) != values_.end(); }
  const std::map<std::string, Attribute, std::less<>>& all() const { return values_; }

  bool boolean(std::string_view name) const { return get<bool>(name); }
  int64_t integer(std::string_view name) const { return get<int64_t>(name); }
  const NumberOrPair& number(std::string_view name) const { return get<NumberOrPair>(name); }
  const std::string& text(std::string_view name) const { return get<std::string>(name); }
  const std::vector<std::string>& names(std::string_view name) const {
    return get<std::vector<std::string>>(name);
  }
  const std::vector<int64_t>& integers(std::string_view name) const {
    return get<std::vector<int64_t>>(name);
  }
  /// Gets a parameter of kind IntegerLists or DimensionNumbers.
  const std::vector<std::vector<int64_t>>& lists(std::string_view name) const {
    return get<std::vector<std::vector<int64_t>>>(name);
  }
  Dtype dtype(std::string_view name) const { return get<Dtype>(name); }
  Flops flops(std::string_view name) const { return get<Flops>(name); }
  Bytes bytes(std::string_view name) const { return get<Bytes>(name); }
  Work work(std::string_view name) const { return get<Work>(name); }
  const SharedCoreMap& core_map(std::string_view name) const { return get<SharedCoreMap>(name); }

  friend bool operator==(const Attributes&, const Attributes&) = default;

 private:
  const Attribute& at(std::string_view name) const;

  template <class T>
  const T& get(std::string_view name) const {
    return std::get<T>(at(name));
  }

  std::map<std::string, Attribute, std::less<>> values_;
};

}  // namespace orrery
