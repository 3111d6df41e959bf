#include "tests/verifier/definition_by_element.h"

#include "models/base/callable.h"
#include "models/base/check.h"

namespace orrery::test {

namespace {

using Index = std::vector<int64_t>;

/// Returns the row-major offset of an index.
int64_t place(const Index& index, const Shape& shape) {
  int64_t place = 0;
  for (size_t d = 0; d < index.size(); ++d)
    place = place * shape[d] + index[d];
  return place;
}

Index index_at(int64_t place, const Shape& shape) {
  Index index(shape.rank(), 0);
  for (size_t d = shape.rank(); d-- > 0;) {
    index[d] = place % shape[d];
    place /= shape[d];
  }
  return index;
}

/// Returns the elements of one rank's `result`. `from` turns the index of each result element into
/// that of its operand element, and returns the operand's rank.
std::vector<DefinedElement> moved(const Shape& result, const Shape& operand,
                                  FunctionRef<int64_t(Index&)> from) {
  std::vector<DefinedElement> elements;
  for (int64_t e = 0; e < result.elements(); ++e) {
    Index index = index_at(e, result);
    const int64_t q = from(index);
    elements.push_back({Rank(static_cast<size_t>(q)), 1, place(index, operand)});
  }
  return elements;
}

/// Returns each element of one rank's operand, or the fold of the element over `ranks` ranks.
std::vector<DefinedElement> each(const Shape& operand, Rank rank, uint32_t ranks) {
  std::vector<DefinedElement> elements;
  for (int64_t e = 0; e < operand.elements(); ++e)
    elements.push_back({rank, ranks, ranks == 0 ? 0 : e});
  return elements;
}

std::vector<DefinedElement> all_gather(const Shape& operand, size_t axis, int64_t n, bool tiled) {
  if (!tiled)
    return moved(operand.inserted(axis, n), operand, [&](Index& index) {
      const int64_t q = index[axis];
      index.erase(index.begin() + static_cast<ptrdiff_t>(axis));
      return q;
    });
  return moved(operand.with(axis, operand[axis] * n), operand, [&](Index& index) {
    const int64_t q = index[axis] / operand[axis];
    index[axis] %= operand[axis];
    return q;
  });
}

std::vector<DefinedElement> psum_scatter(const Shape& operand, size_t axis, uint32_t n, int64_t p,
                                         bool tiled) {
  const int64_t chunk = operand[axis] / n;
  std::vector<DefinedElement> elements =
      tiled ? moved(operand.with(axis, chunk), operand,
                    [&](Index& index) {
                      index[axis] += p * chunk;
                      return int64_t{0};
                    })
            : moved(operand.without(axis), operand, [&](Index& index) {
                index.insert(index.begin() + static_cast<ptrdiff_t>(axis), p);
                return int64_t{0};
              });
  for (DefinedElement& element : elements)
    element.ranks = n;
  return elements;
}

std::vector<DefinedElement> all_to_all(const Shape& operand, size_t split, size_t concat, int64_t n,
                                       int64_t p, bool tiled) {
  if (!tiled)
    return moved(operand.without(split).inserted(concat, n), operand, [&](Index& index) {
      const int64_t q = index[concat];
      index.erase(index.begin() + static_cast<ptrdiff_t>(concat));
      index.insert(index.begin() + static_cast<ptrdiff_t>(split), p);
      return q;
    });
  const Shape chunk = operand.with(split, operand[split] / n);
  return moved(chunk.with(concat, chunk[concat] * n), operand, [&](Index& index) {
    const int64_t q = index[concat] / chunk[concat];
    index[concat] %= chunk[concat];
    index[split] += p * chunk[split];
    return q;
  });
}

}  // namespace

std::vector<DefinedElement> define_by_element(const Op& op, const Shape& operand,
                                              uint32_t group_size, Rank rank) {
  const Attributes& given = op.attributes;
  const auto axis = [&](const char* parameter) {
    return static_cast<size_t>(given.integer(parameter));
  };
  const int64_t p = rank.index();
  switch (op.kind) {
    case OpKind::Psum:
      return each(operand, Rank(0), group_size);
    case OpKind::AllGather:
      return all_gather(operand, axis("axis"), group_size, given.boolean("tiled"));
    case OpKind::PsumScatter:
      return psum_scatter(operand, axis("scatter_dimension"), group_size, p,
                          given.boolean("tiled"));
    case OpKind::AllToAll:
      return all_to_all(operand, axis("split_axis"), axis("concat_axis"), group_size, p,
                        given.boolean("tiled"));
    case OpKind::Pswapaxes:
      return all_to_all(operand, axis("axis"), axis("axis"), group_size, p, false);
    case OpKind::Ppermute:
      for (const std::vector<int64_t>& pair : given.lists("perm"))
        if (pair[1] == p)
          return each(operand, Rank(static_cast<size_t>(pair[0])), 1);
      return each(operand, Rank(0), 0);
    default:
      fail_check("a collective of the list above", "the slow form is of some collectives", __FILE__,
                 __LINE__);
  }
}

}  // namespace orrery::test
