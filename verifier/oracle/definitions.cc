#include "verifier/oracle/definitions.h"

#include <cstring>
#include <limits>
#include <utility>

#include "models/array/dispatch.h"
#include "models/array/kernels.h"
#include "models/base/check.h"

namespace orrery {

namespace {

size_t dimension(int64_t axis, size_t rank) {
  return static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis);
}

/// Collects parts from the first result element on, and joins those that continue each other.
class PartList {
 public:
  void add(int64_t count, Rank rank, uint32_t ranks, int64_t source) {
    if (count == 0)
      return;
    if (!parts_.empty() && continues(parts_.back(), rank, ranks, source))
      parts_.back().count += count;
    else
      parts_.push_back({at_, count, rank, ranks, source});
    at_ += count;
  }
  void add_zeros(int64_t count) { add(count, Rank(0), 0, 0); }

  std::vector<Part> take() { return std::move(parts_); }

 private:
  static bool continues(const Part& before, Rank rank, uint32_t ranks, int64_t source) {
    if (ranks == 0)
      return before.ranks == 0;
    return before.rank == rank && before.ranks == ranks && before.source + before.count == source;
  }

  std::vector<Part> parts_;
  int64_t at_ = 0;
};

/// A multi-index that counts through the first `dims.size()` dimensions, row-major.
class Counter {
 public:
  explicit Counter(std::vector<int64_t> dims) : dims_(std::move(dims)), index_(dims_.size(), 0) {
    for (const int64_t dim : dims_)
      over_ = over_ || dim == 0;
  }
  bool over() const { return over_; }
  const std::vector<int64_t>& index() const { return index_; }
  void next() {
    for (size_t d = dims_.size(); d-- > 0;) {
      if (++index_[d] < dims_[d])
        return;
      index_[d] = 0;
    }
    over_ = true;
  }

 private:
  std::vector<int64_t> dims_;
  std::vector<int64_t> index_;
  bool over_ = false;
};

/// The row-major place of an index over the first index.size() dimensions of `shape`.
int64_t place(const std::vector<int64_t>& index, const Shape& shape) {
  int64_t place = 0;
  for (size_t d = 0; d < index.size(); ++d)
    place = place * shape[d] + index[d];
  return place;
}

/// Every element is the fold of all ranks' elements at its own place.
Definition reduce(Combine combine, const Shape& operand, uint32_t n, Gives gives = Gives::Fold) {
  PartList parts;
  parts.add(operand.elements(), Rank(0), n, 0);
  return {combine, parts.take(), gives};
}

/// The operands one after the other along `axis`. Stacked at a new dimension (untiled) or
/// concatenated along one (tiled): in row-major order the same.
Definition all_gather(const Shape& operand, size_t axis, uint32_t n) {
  const int64_t block = operand.elements_from(axis);
  PartList parts;
  for (int64_t outer = 0; outer < operand.elements_before(axis); ++outer)
    for (uint32_t q = 0; q < n; ++q)
      parts.add(block, Rank(q), 1, outer * block);
  return {Combine::None, parts.take()};
}

/// Chunk number `p` of `n` along `axis` of the sum. Untiled, where the extent is n, drops the
/// dimension of extent 1 that is left: in row-major order the same.
Definition psum_scatter(const Shape& operand, size_t axis, uint32_t n, Rank p) {
  const int64_t chunk = operand.elements_from(axis) / n;
  PartList parts;
  for (int64_t outer = 0; outer < operand.elements_before(axis); ++outer)
    parts.add(chunk, Rank(0), n, (outer * n + p.index()) * chunk);
  return {Combine::Add, parts.take()};
}

/// Tiled: concatenation along `concat`, over the ranks q, of chunk p of operand q along `split`.
Definition all_to_all_tiled(const Shape& operand, size_t split, size_t concat, uint32_t n, Rank p) {
  const Shape chunk = operand.with(split, operand[split] / n);
  const Shape result = chunk.with(concat, chunk[concat] * n);
  const size_t inner = std::max(split, concat) + 1;  // dimensions from here on are untouched
  const int64_t block = operand.elements_from(inner);
  PartList parts;
  for (Counter at({result.dims().begin(), result.dims().begin() + static_cast<ptrdiff_t>(inner)});
       !at.over(); at.next()) {
    std::vector<int64_t> source = at.index();
    const int64_t q = source[concat] / chunk[concat];
    source[concat] %= chunk[concat];
    source[split] += p.index() * chunk[split];
    parts.add(block, Rank(static_cast<size_t>(q)), 1, place(source, operand) * block);
  }
  return {Combine::None, parts.take()};
}

/// Untiled: the stack at `concat`, over the ranks q, of entry p of operand q along `split`.
Definition all_to_all_untiled(const Shape& operand, size_t split, size_t concat, uint32_t n,
                              Rank p) {
  const Shape result = operand.without(split).inserted(concat, n);
  const size_t inner = std::max(split, concat) + 1;
  const int64_t block = operand.elements_from(inner);
  PartList parts;
  for (Counter at({result.dims().begin(), result.dims().begin() + static_cast<ptrdiff_t>(inner)});
       !at.over(); at.next()) {
    std::vector<int64_t> source = at.index();
    const int64_t q = source[concat];
    source.erase(source.begin() + static_cast<ptrdiff_t>(concat));
    source.insert(source.begin() + static_cast<ptrdiff_t>(split), p.index());
    parts.add(block, Rank(static_cast<size_t>(q)), 1, place(source, operand) * block);
  }
  return {Combine::None, parts.take()};
}

/// The operand of the rank that `perm` sends here; zeros where it sends none.
Definition ppermute(const Shape& operand, const std::vector<std::vector<int64_t>>& perm, Rank p) {
  PartList parts;
  for (const std::vector<int64_t>& pair : perm)
    if (pair[1] == p.index())
      parts.add(operand.elements(), Rank(static_cast<size_t>(pair[0])), 1, 0);
  Definition definition{Combine::None, parts.take()};
  if (definition.parts.empty()) {
    parts.add_zeros(operand.elements());
    definition.parts = parts.take();
  }
  return definition;
}

/// The operand of one rank.
Definition copy(const Shape& operand, Rank source) {
  PartList parts;
  parts.add(operand.elements(), source, 1, 0);
  return {Combine::None, parts.take()};
}

/// The folds of all parts, in the dtype of the terms.
Tensor fold(const Definition& definition, std::span<const Tensor* const> terms,
            const Shape& shape) {
  const Dtype dtype = terms[0]->dtype();
  Tensor result(dtype, shape);
  const auto item = static_cast<size_t>(itemsize(dtype).count());
  std::byte* const to = result.bytes().data();
  for (const Part& part : definition.parts) {
    std::byte* const target = to + static_cast<size_t>(part.first) * item;
    const size_t source = static_cast<size_t>(part.source) * item;
    for (uint32_t r = 0; r < part.ranks; ++r) {
      const std::byte* const from = terms[part.rank.index() + r]->bytes().data() + source;
      if (r == 0)
        std::memcpy(target, from, static_cast<size_t>(part.count) * item);
      else
        combine_into(dtype, definition.combine, target, target, from, part.count);
    }
  }
  return result;
}

/// Divides in doubles: the quotient of two floats of a narrower dtype is the same when it is
/// rounded twice (Figueroa, "When is double rounding innocuous?", SIGNUM Newsletter 30, 1995).
Tensor mean(const Definition& definition, const Tensor& sums) {
  Tensor wide = convert(sums, Dtype::F64);
  for (const Part& part : definition.parts)
    for (double& sum : wide.as<double>().subspan(static_cast<size_t>(part.first),
                                                 static_cast<size_t>(part.count)))
      sum /= part.ranks;
  return convert(wide, sums.dtype());
}

/// Per element, the lowest rank whose term is the extremum.
Tensor ranks_of(const Definition& definition, std::span<const Tensor* const> terms,
                const Tensor& extrema) {
  Tensor result(Dtype::S32, extrema.shape());
  dispatch(extrema.dtype(), [&](auto tag) {
    using E = typename decltype(tag)::type;
    for (const Part& part : definition.parts) {
      for (int64_t i = 0; i < part.count; ++i) {
        const auto at = static_cast<size_t>(part.first + i);
        int32_t& rank = result.as<int32_t>()[at];
        rank = std::numeric_limits<int32_t>::max();
        for (uint32_t r = part.ranks; r-- > 0;) {
          const E x = terms[part.rank.index() + r]->as<E>()[static_cast<size_t>(part.source + i)];
          if (arith::equal(x, extrema.as<E>()[at]))
            rank = static_cast<int32_t>(part.rank.index() + r);
        }
      }
    }
  });
  return result;
}

}  // namespace

Definition define(const Op& op, const Shape& operand, uint32_t group_size, Rank rank) {
  const Attributes& given = op.attributes;
  // Over no axes, every collective is the identity, whatever its other parameters say. (pmean's is
  // one in another dtype.)
  if (given.names("axis_name").empty())
    return reduce(Combine::None, operand, 1);
  switch (op.kind) {
    case OpKind::Psum:
      return reduce(Combine::Add, operand, group_size);
    case OpKind::Pmean:
      return reduce(Combine::Add, operand, group_size, Gives::Mean);
    case OpKind::Pmax:
      return reduce(Combine::Max, operand, group_size);
    case OpKind::Pmin:
      return reduce(Combine::Min, operand, group_size);
    case OpKind::Pargmax:
      return reduce(Combine::Max, operand, group_size, Gives::LowestRank);
    case OpKind::Pargmin:
      return reduce(Combine::Min, operand, group_size, Gives::LowestRank);
    case OpKind::AllGather: {
      const size_t result_rank = operand.rank() + (given.boolean("tiled") ? 0 : 1);
      return all_gather(operand, dimension(given.integer("axis"), result_rank), group_size);
    }
    case OpKind::PsumScatter:
      return psum_scatter(operand, dimension(given.integer("scatter_dimension"), operand.rank()),
                          group_size, rank);
    case OpKind::AllToAll: {
      const size_t split = dimension(given.integer("split_axis"), operand.rank());
      const size_t concat = dimension(given.integer("concat_axis"), operand.rank());
      return given.boolean("tiled") ? all_to_all_tiled(operand, split, concat, group_size, rank)
                                    : all_to_all_untiled(operand, split, concat, group_size, rank);
    }
    case OpKind::Pswapaxes: {
      const size_t axis = dimension(given.integer("axis"), operand.rank());
      return all_to_all_untiled(operand, axis, axis, group_size, rank);
    }
    case OpKind::Ppermute:
      return ppermute(operand, given.lists("perm"), rank);
    case OpKind::Pshuffle:
      return copy(operand, Rank(static_cast<size_t>(given.integers("perm")[rank.index()])));
    case OpKind::Pbroadcast:
      return copy(operand, Rank(static_cast<size_t>(given.integer("source"))));
    default:
      fail_check("a collective kind", "only collectives have a definition over a group", __FILE__,
                 __LINE__);
  }
}

Tensor apply(const Definition& definition, std::span<const Tensor* const> operands, Dtype dtype,
             const Shape& shape) {
  std::vector<Tensor> counted;
  std::vector<const Tensor*> terms(operands.begin(), operands.end());
  if (definition.combine == Combine::Add && operands[0]->dtype() == Dtype::Pred) {
    for (const Tensor* operand : operands)
      counted.push_back(convert(*operand, Dtype::S32));
    for (size_t r = 0; r < counted.size(); ++r)
      terms[r] = &counted[r];
  }
  const Tensor folded = fold(definition, terms, shape);
  switch (definition.gives) {
    case Gives::Fold:
      return folded.dtype() == dtype ? folded : convert(folded, dtype);
    case Gives::Mean:
      return mean(definition, convert(folded, dtype));
    case Gives::LowestRank:
      return ranks_of(definition, terms, folded);
  }
  fail_check("gives is an enumerator", "a definition gives one of the enumeration", __FILE__,
             __LINE__);
}

}  // namespace orrery
