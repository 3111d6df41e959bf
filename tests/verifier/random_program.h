#pragma once

// Random programs on {x: 2, y: 3}, of s32, whose argument is "x".

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

/// The parts that a random program may have.
struct RandomOps {
  /// All values that depend on x do so linearly.
  bool linear = true;
  /// Over this axis there are no groups, and permutations over it and others are one of each: what
  /// a batch in its place can be.
  std::optional<std::string_view> batched = {};
};

class RandomProgram {
 public:
  RandomProgram(uint64_t seed, const RandomOps& ops);

  Program program();

  /// The values that depend on x, x first.
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

/// Any elements.
Tensor random_tensor(const Shape& shape, Random& random);

/// Random data for the argument `name` of a program, one tensor a device.
std::vector<Tensor> random_data(const Program& program, const std::string& name, Random& random);

/// By the names of arguments, one tensor a device.
using ArgumentData = std::map<std::string, std::vector<Tensor>>;

/// The values of each of `names`, one a device, where the arguments have this data.
std::vector<std::vector<Tensor>> run(const Program& program, const ArgumentData& data,
                                     const std::vector<std::string>& names);
/// The same of a program with one argument.
std::vector<std::vector<Tensor>> run(const Program& program, const std::vector<Tensor>& data,
                                     const std::vector<std::string>& names);

}  // namespace orrery::test
