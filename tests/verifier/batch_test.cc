// Tests that a batched program gives each element of the batch the values that the program gives it
// alone, bit for bit. This must also hold where the batch takes the place of a mesh axis.

#include "models/transform/batch.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "models/array/text.h"
#include "tests/support/tries.h"
#include "tests/verifier/batches.h"
#include "tests/verifier/random_program.h"
#include "tests/verifier/typed_program.h"

namespace orrery {
namespace {

using test::entry;
using test::random_data;
using test::RandomProgram;
using test::run;
using test::stacked;

const uint64_t kBatches = test::tries(1000);

int64_t rank_of(const Program& program, const std::string& name) {
  return static_cast<int64_t>(program.value(values_by_name(program).at(name)).type.shape.rank());
}

int64_t random_dimension(const Program& program, const std::string& name, Random& random) {
  return static_cast<int64_t>(random.below(static_cast<uint64_t>(rank_of(program, name)) + 1));
}

/// A `Case` is a program and the dimension of its batch in x and in every value that depends on x.
struct Case {
  Case(uint64_t seed, const test::RandomOps& ops) : generated(seed, ops), random(seed + 1'000'000) {
    program = generated.program();
    for (const std::string& name : generated.values())
      dimensions.push_back(random_dimension(program, name, random));
    request.in_axes = {{{"x", Origin{}}, dimensions[0]}};
    for (size_t v = 1; v < names().size(); ++v)
      request.out_axes.push_back({{names()[v], Origin{}}, dimensions[v]});
  }

  const std::vector<std::string>& names() const { return generated.values(); }

  Program batched() const {
    Diagnostics diagnostics("f");
    Program made = batch(program, Checks::Shapes, request, diagnostics);
    diagnostics.throw_if_any();
    return made;
  }

  RandomProgram generated;
  Random random;
  Program program;
  std::vector<int64_t> dimensions;  // by name
  BatchRequest request;
};

TEST_CASE("batch: of random programs, each entry is what the program has for it alone") {
  for (uint64_t seed = 0; seed < kBatches; ++seed) {
    CAPTURE(seed);
    Case it(seed, {.linear = seed % 4 == 0});
    const int64_t size = it.random.between(1, 3);
    it.request.size = size;
    const Program batched = it.batched();
    std::vector<std::vector<Tensor>> data;  // by entry and device
    for (int64_t b = 0; b < size; ++b)
      data.push_back(random_data(it.program, "x", it.random));
    std::vector<Tensor> together;
    for (size_t d = 0; d < it.program.mesh.devices(); ++d) {
      std::vector<Tensor> entries;
      for (const std::vector<Tensor>& each : data)
        entries.push_back(each[d]);
      together.push_back(stacked(entries, it.dimensions[0]));
    }
    const auto got = run(batched, together, it.names());
    for (int64_t b = 0; b < size; ++b) {
      const auto alone = run(it.program, data[static_cast<size_t>(b)], it.names());
      for (size_t v = 0; v < it.names().size(); ++v)
        for (size_t d = 0; d < together.size(); ++d) {
          CAPTURE(it.names()[v]);
          CHECK(same_bits(entry(got[v][d], it.dimensions[v], b), alone[v][d]));
        }
    }
  }
}

TEST_CASE("batch: in the place of a mesh axis, an entry is what a place on the axis had") {
  for (uint64_t seed = 0; seed < kBatches; ++seed) {
    CAPTURE(seed);
    const std::string axis = seed % 2 == 0 ? "x" : "y";
    Case it(seed, {.linear = seed % 4 < 2, .batched = axis});
    it.request.axis_name = {axis, Origin{}};
    const Program batched = it.batched();
    const Mesh& mesh = it.program.mesh;
    const std::vector<size_t> own = {*mesh.axis(axis)};
    const std::vector<size_t> other = {1 - own[0]};
    const std::vector<Tensor> data = random_data(it.program, "x", it.random);
    /// Returns the device at an index of the other axis and a place on this one.
    const auto device = [&](size_t index, int64_t place) {
      const LogicalId at = mesh.with_index(LogicalId(0), other, static_cast<int64_t>(index));
      return mesh.with_index(at, own, place).index();
    };
    std::vector<Tensor> together;
    for (size_t d = 0; d < batched.mesh.devices(); ++d) {
      std::vector<Tensor> entries;
      for (int64_t place = 0; place < mesh.size(own); ++place)
        entries.push_back(data[device(d, place)]);
      together.push_back(stacked(entries, it.dimensions[0]));
    }
    const auto got = run(batched, together, it.names());
    const auto wanted = run(it.program, data, it.names());
    for (size_t v = 0; v < it.names().size(); ++v)
      for (size_t d = 0; d < together.size(); ++d)
        for (int64_t place = 0; place < mesh.size(own); ++place) {
          CAPTURE(it.names()[v]);
          CHECK(same_bits(entry(got[v][d], it.dimensions[v], place), wanted[v][device(d, place)]));
        }
  }
}

TEST_CASE("batch: of random programs of checked types each entry is as alone, in the same states") {
  for (uint64_t seed = 0; seed < kBatches; ++seed) {
    CAPTURE(seed);
    test::TypedProgram generated(seed);
    const Program program = generated.program();
    const std::vector<std::string>& names = generated.values();
    Random random(seed + 1'000'000);
    BatchRequest request;
    const int64_t size = random.between(1, 3);
    request.size = size;
    std::vector<int64_t> dimensions;
    for (const std::string& name : names)
      dimensions.push_back(random_dimension(program, name, random));
    request.in_axes = {{{"x", Origin{}}, dimensions[0]}};
    for (size_t v = 1; v < names.size(); ++v)
      request.out_axes.push_back({{names[v], Origin{}}, dimensions[v]});
    Diagnostics diagnostics("f");
    const Program batched = batch(program, Checks::States, request, diagnostics);
    diagnostics.throw_if_any();
    std::vector<std::vector<Tensor>> data;  // by entry and device
    for (int64_t b = 0; b < size; ++b)
      data.push_back(test::random_copies(program, "x", random));
    std::vector<Tensor> together;
    for (size_t d = 0; d < program.mesh.devices(); ++d) {
      std::vector<Tensor> entries;
      for (const std::vector<Tensor>& each : data)
        entries.push_back(each[d]);
      together.push_back(stacked(entries, dimensions[0]));
    }
    const auto got = run(batched, together, names);
    for (int64_t b = 0; b < size; ++b) {
      const auto alone = run(program, data[static_cast<size_t>(b)], names);
      for (size_t v = 0; v < names.size(); ++v) {
        CAPTURE(names[v]);
        const auto states = [&](const Program& of) {
          return of.value(values_by_name(of).at(names[v])).type.axes;
        };
        CHECK(states(batched) == states(program));
        for (size_t d = 0; d < together.size(); ++d)
          CHECK(same_bits(entry(got[v][d], dimensions[v], b), alone[v][d]));
      }
    }
  }
}

}  // namespace
}  // namespace orrery
