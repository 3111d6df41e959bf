#pragma once

// Makes random programs on {x: 2, y: 3}, of s32, with the argument "x".

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/array/tensor.h"
#include "models/base/random.h"
#include "models/program/builder.h"
#include "models/program/program.h"

namespace orrery::test {

/// `RandomOps` says which ops a random program may have.
struct RandomOps {
  /// If true, all values that depend on x do so linearly.
  bool linear = true;
  /// If set, a batch may take the place of this axis, and there are no groups over it. A
  /// permutation over it and another axis is the product of one permutation along each.
  std::optional<std::string_view> batched = {};
};

class RandomProgram {
 public:
  RandomProgram(uint64_t seed, const RandomOps& ops);

  Program program();

  /// Returns the values that depend on x, beginning with x.
  const std::vector<std::string>& values() const { return values_; }

 private:
  using Integers = std::vector<int64_t>;
  using Lists = std::vector<Integers>;
  using Names = std::vector<std::string>;
  using Given = std::vector<std::pair<std::string, Attribute>>;

  Shape random_shape();
  Shape shape_of(const std::string& name);
  std::string add(OpKind kind, Names operands, const Given& given = {});
  void add_value(OpKind kind, Names operands, const Given& given = {});
  std::string constant(const Shape& shape);
  std::string zero();
  std::string start(const std::string& x);
  std::string value_of(const Shape& shape, const std::string& x);
  std::pair<Given, int64_t> group();
  Lists pairs(int64_t size);
  Lists chains(int64_t size);
  bool is_batched_with_others(const Given& group) const;
  void add_op();
  void add_collective(const std::string& x);
  void add_transfer(const std::string& x);
  void add_movement(const std::string& x);
  void add_reordered(const std::string& x, int64_t dimension);
  void add_rows(const std::string& x, int64_t axis);
  void add_arithmetic(const std::string& x);
  void add_nonlinear(const std::string& x);

  Random random_;
  const RandomOps ops_;
  Mesh mesh_{{{"x", 2}, {"y", 3}}};
  Diagnostics diagnostics_{"f"};
  ProgramBuilder builder_{mesh_, Checks::Shapes, diagnostics_};
  Names values_;
  int64_t made_ = 0;
  int64_t constants_ = 0;
};

/// Returns a tensor of any elements.
Tensor random_tensor(const Shape& shape, Random& random);

/// Returns random data for the argument `name` of a program, one tensor per device.
std::vector<Tensor> random_data(const Program& program, const std::string& name, Random& random);

/// Maps the names of arguments to their data, one tensor per device.
using ArgumentData = std::map<std::string, std::vector<Tensor>>;

/// Returns the values of each of `names`, one per device, where the arguments have this data.
std::vector<std::vector<Tensor>> run(const Program& program, const ArgumentData& data,
                                     const std::vector<std::string>& names);
/// Returns the values for a program with one argument.
std::vector<std::vector<Tensor>> run(const Program& program, const std::vector<Tensor>& data,
                                     const std::vector<std::string>& names);

}  // namespace orrery::test
