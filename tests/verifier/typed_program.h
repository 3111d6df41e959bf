#pragma once

// Makes random linear programs with checked types on {x: 2, y: 3}, of s32, whose argument "x" has
// any states. Each op is one that its type rule accepts, with the casts that it makes by itself.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "models/array/tensor.h"
#include "models/base/random.h"
#include "models/program/builder.h"
#include "models/program/program.h"

namespace orrery::test {

class TypedProgram {
 public:
  explicit TypedProgram(uint64_t seed);

  Program program();

  /// Returns the values that depend on x, beginning with x.
  const std::vector<std::string>& values() const { return values_; }

 private:
  using Integers = std::vector<int64_t>;
  using Lists = std::vector<Integers>;
  using Names = std::vector<std::string>;
  using Given = std::vector<std::pair<std::string, Attribute>>;

  int64_t below(int64_t bound);
  Integers shuffled(int64_t count);
  template <class Items>
  const auto& one_of(const Items& items) {
    return items[random_.below(items.size())];
  }

  ValueType type(const std::string& name);
  bool fits(const OpRequest& request);
  bool add(OpKind kind, Names operands, const Given& given = {});
  void add_value(OpKind kind, Names operands, const Given& given = {});
  std::string constant(const Shape& shape);
  std::string index();
  std::string like(const std::string& x);
  Names axes();

  void add_op();
  void add_cast(const std::string& x);
  void add_sum(const std::string& x);
  void add_exchange(const std::string& x);
  void add_movement(const std::string& x);
  void add_rows(const std::string& x);
  void add_arithmetic(const std::string& x);

  Random random_;
  Mesh mesh_{{{"x", 2}, {"y", 3}}};
  Diagnostics diagnostics_{"f"};
  ProgramBuilder builder_{mesh_, Checks::States, diagnostics_};
  Names values_;
  int64_t made_ = 0;
};

/// Returns the axes over which the copies of a value are equal: those along which it is invarying
/// or reduced.
std::vector<size_t> equal_axes(const ValueType& type);

/// Returns random copies of a value, one per device, which are equal where its states require it.
std::vector<Tensor> random_copies(const Program& program, const std::string& name, Random& random);

}  // namespace orrery::test
