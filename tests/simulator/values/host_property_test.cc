// Compares random collectives of every dtype with their definitions, written out here index by
// index. The inputs are small integers, whose sums are exact in every dtype.

#include <complex>
#include <functional>

#include <doctest/doctest.h>

#include "models/array/kernels.h"
#include "models/array/text.h"
#include "models/base/random.h"
#include "simulator/values/host_executor.h"
#include "tests/models/array/random_tensors.h"
#include "tests/models/array/tensors.h"
#include "tests/simulator/values/host_rig.h"
#include "tests/support/property.h"

namespace orrery::test {

namespace {

using Index = std::vector<int64_t>;
using Operands = std::vector<Tensor>;  // of one group, by rank
using Number = std::complex<double>;   // real, but for complex dtypes

Number element(const Tensor& tensor, const Index& index) {
  int64_t place = 0;
  for (size_t d = 0; d < index.size(); ++d)
    place = place * tensor.shape()[d] + index[d];
  if (!is_complex(tensor.dtype()))
    return element_as_double(tensor, place);
  return {element_as_double(real(tensor), place), element_as_double(imag(tensor), place)};
}

/// Returns a tensor whose elements `say` gives by their indices.
Tensor by_index(Dtype dtype, const Shape& shape, const std::function<Number(const Index&)>& say) {
  const Dtype part = part_dtype(dtype);
  Tensor re(part, shape);
  Tensor im(part, shape);
  for (int64_t i = 0; i < re.elements(); ++i) {
    Index index(shape.rank());
    int64_t rest = i;
    for (size_t d = shape.rank(); d-- > 0;) {
      index[d] = rest % shape[d];
      rest /= shape[d];
    }
    const Number number = say(index);
    set_element_from_double(re, i, number.real());
    set_element_from_double(im, i, number.imag());
  }
  return is_complex(dtype) ? complex(re, im) : re;
}

Number sum(const Operands& operands, const Index& index) {
  Number total = 0;
  for (const Tensor& operand : operands)
    total += element(operand, index);
  return total;
}

Index inserted(Index index, size_t dimension, int64_t value) {
  index.insert(index.begin() + static_cast<int64_t>(dimension), value);
  return index;
}
Index removed(Index index, size_t dimension) {
  index.erase(index.begin() + static_cast<int64_t>(dimension));
  return index;
}
Index moved(Index index, size_t dimension, int64_t value) {
  index[dimension] = value;
  return index;
}

/// A `Case` is a random collective, and the result that it gives rank p of a group.
struct Case {
  std::string op;
  Shape shape;  // of an operand
  std::vector<std::pair<std::string, Attribute>> attributes = {};
  std::function<Tensor(const Operands&, int64_t p)> result = {};
};

Shape random_shape(Random& random, size_t least_rank) {
  std::vector<int64_t> dims(least_rank + random.below(3));
  for (int64_t& dim : dims)
    dim = random.between(1, 4);
  return Shape(dims);
}

Case reduction(Random& random, bool largest) {
  Case made{largest ? "pmax" : "psum", random_shape(random, 0)};
  made.result = [largest](const Operands& operands, int64_t) {
    const Dtype dtype =
        operands[0].dtype() == Dtype::Pred && !largest ? Dtype::S32 : operands[0].dtype();
    return by_index(dtype, operands[0].shape(), [&](const Index& index) {
      if (!largest)
        return sum(operands, index);
      double most = element(operands[0], index).real();
      for (const Tensor& operand : operands)
        most = std::max(most, element(operand, index).real());
      return Number(most);
    });
  };
  return made;
}

Case all_gather(Random& random, bool tiled) {
  Case made{"all_gather", random_shape(random, 1)};
  const size_t axis = random.below(made.shape.rank() + (tiled ? 0 : 1));
  made.attributes = {{"axis", static_cast<int64_t>(axis)}, {"tiled", tiled}};
  made.result = [axis, tiled](const Operands& operands, int64_t) {
    const auto size = static_cast<int64_t>(operands.size());
    const Shape& shape = operands[0].shape();
    if (!tiled)
      return by_index(operands[0].dtype(), shape.inserted(axis, size), [&](const Index& index) {
        return element(operands[static_cast<size_t>(index[axis])], removed(index, axis));
      });
    const int64_t part = shape[axis];
    return by_index(operands[0].dtype(), shape.with(axis, part * size), [&](const Index& index) {
      return element(operands[static_cast<size_t>(index[axis] / part)],
                     moved(index, axis, index[axis] % part));
    });
  };
  return made;
}

Case psum_scatter(Random& random, bool tiled, int64_t size) {
  Case made{"psum_scatter", random_shape(random, 1)};
  const size_t k = random.below(made.shape.rank());
  made.shape = made.shape.with(k, tiled ? size * random.between(1, 3) : size);
  made.attributes = {{"scatter_dimension", static_cast<int64_t>(k)}, {"tiled", tiled}};
  made.result = [k, tiled, size](const Operands& operands, int64_t p) {
    const Shape& shape = operands[0].shape();
    if (!tiled)
      return by_index(operands[0].dtype(), shape.without(k),
                      [&](const Index& index) { return sum(operands, inserted(index, k, p)); });
    const int64_t chunk = shape[k] / size;
    return by_index(operands[0].dtype(), shape.with(k, chunk), [&](const Index& index) {
      return sum(operands, moved(index, k, p * chunk + index[k]));
    });
  };
  return made;
}

Case all_to_all(Random& random, bool tiled, int64_t size) {
  Case made{"all_to_all", random_shape(random, 1)};
  const size_t s = random.below(made.shape.rank());
  const size_t c = random.below(made.shape.rank());
  made.shape = made.shape.with(s, tiled ? size * random.between(1, 2) : size);
  made.attributes = {{"split_axis", static_cast<int64_t>(s)},
                     {"concat_axis", static_cast<int64_t>(c)},
                     {"tiled", tiled}};
  made.result = [s, c, tiled, size](const Operands& operands, int64_t p) {
    const Shape& shape = operands[0].shape();
    if (!tiled)
      return by_index(operands[0].dtype(), shape.without(s).inserted(c, size),
                      [&](const Index& index) {
                        return element(operands[static_cast<size_t>(index[c])],
                                       inserted(removed(index, c), s, p));
                      });
    const int64_t chunk = shape[s] / size;
    const Shape part = shape.with(s, chunk);
    return by_index(operands[0].dtype(), part.with(c, part[c] * size), [&](const Index& index) {
      const Index in_part = moved(index, c, index[c] % part[c]);
      return element(operands[static_cast<size_t>(index[c] / part[c])],
                     moved(in_part, s, in_part[s] + p * chunk));
    });
  };
  return made;
}

Case ppermute(Random& random, int64_t size) {
  Case made{"ppermute", random_shape(random, 0)};
  std::vector<int64_t> sources;
  for (int64_t r = 0; r < size; ++r)
    sources.push_back(r);
  for (size_t i = sources.size(); i > 1; --i)
    std::swap(sources[i - 1], sources[random.below(i)]);
  Lists perm;
  for (int64_t r = 0; r < size; ++r)
    if (random.below(4) != 0)
      perm.push_back({sources[static_cast<size_t>(r)], r});
  made.attributes = {{"perm", perm}};
  made.result = [perm](const Operands& operands, int64_t p) {
    for (const std::vector<int64_t>& pair : perm)
      if (pair[1] == p)
        return operands[static_cast<size_t>(pair[0])];
    return Tensor(operands[0].dtype(), operands[0].shape());
  };
  return made;
}

Case random_case(Random& random, Dtype dtype, int64_t size) {
  const bool tiled = random.below(2) == 0;
  switch (random.below(dtype == Dtype::Pred ? 5 : 6)) {
    case 0:
      return reduction(random, false);
    case 1:
      return reduction(random, !is_complex(dtype));
    case 2:
      return all_gather(random, tiled);
    case 3:
      return all_to_all(random, tiled, size);
    case 4:
      return ppermute(random, size);
    default:
      return psum_scatter(random, tiled, size);
  }
}

void check_random_case(Random& random, Dtype dtype) {
  const int64_t x = random.between(1, 7);
  const int64_t y = random.between(1, 2);
  Case made = random_case(random, dtype, x);
  made.attributes.emplace_back("axis_name", Names{"x"});
  made.attributes.emplace_back("channels", random.between(1, 3));
  made.attributes.emplace_back("slots", random.between(2, 3));
  made.attributes.emplace_back("entry", std::string(random.below(2) == 0 ? "eager" : "rendezvous"));

  HostRig rig({{"x", x}, {"y", y}});
  std::vector<Tensor> inputs;
  for (int64_t d = 0; d < x * y; ++d)
    inputs.push_back(random_small_integers(dtype, made.shape, random));
  rig.argument("a", inputs);
  const bool started = random.below(2) == 0;
  rig.op(made.op + (started ? "_start" : ""), "s", {"a"}, made.attributes);
  if (started)
    rig.op("done", "d", {"s"});
  const HostRun run = rig.run();

  RC_ASSERT(run.stop.finished());
  RC_ASSERT(run.digest == rig.digest());
  for (int64_t group = 0; group < y; ++group) {
    Operands operands;  // rank r of group g is device r * y + g
    for (int64_t r = 0; r < x; ++r)
      operands.push_back(inputs[static_cast<size_t>(r * y + group)]);
    for (int64_t r = 0; r < x; ++r) {
      const LogicalId device(static_cast<size_t>(r * y + group));
      RC_ASSERT(run.values.at(rig.value(started ? "d" : "s"), device).value() ==
                made.result(operands, r));
    }
  }
}

TEST_CASE("host: random collectives of every dtype give what their definitions say") {
  holds_for_all("definitions", [](uint64_t seed) {
    Random random(seed);
    for (const Dtype dtype : all_dtypes())
      check_random_case(random, dtype);
  });
}

TEST_CASE("host: the same run twice gives the same bits") {
  holds_for_all("repeatable", [](uint64_t seed) {
    Random random(seed);
    HostRig rig({{"x", 5}});
    std::vector<Tensor> inputs;
    for (int d = 0; d < 5; ++d)
      inputs.push_back(random_normalish(Dtype::F16, {17}, random));
    rig.argument("a", std::move(inputs));
    rig.op("psum", "s", {"a"}, {{"axis_name", Names{"x"}}});
    const HostRun first = rig.run();
    const HostRun second = rig.run();
    for (uint32_t d = 0; d < 5; ++d)
      RC_ASSERT(first.values.at(rig.value("s"), LogicalId(d)) ==
                second.values.at(rig.value("s"), LogicalId(d)));
  });
}

}  // namespace

}  // namespace orrery::test
