#include "verifier/definition/definitions.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "models/array/arith.h"
#include "models/array/dtype.h"
#include "models/array/kernels.h"
#include "models/array/work.h"
#include "models/array/xla_cpu.h"
#include "models/base/check.h"
#include "models/program/rules.h"

namespace orrery {

namespace {

/// Returns the row-major strides of a shape.
std::vector<int64_t> strides(const Shape& shape) {
  std::vector<int64_t> strides(shape.rank(), 1);
  for (size_t d = shape.rank(); d-- > 1;)
    strides[d - 1] = strides[d] * shape[d];
  return strides;
}

/// Adds the part unless it has no elements.
void add(std::vector<Part>& parts, Part part) {
  part.dims = joined(std::move(part.dims));
  if (part.elements() > 0)
    parts.push_back(std::move(part));
}

/// Returns the whole result: each element is made of the operand element of the same index.
std::vector<Part> in_place(const Shape& operand, Rank rank, uint32_t ranks) {
  std::vector<Part> parts;
  add(parts, {0, 0, rank, ranks, {{operand.elements(), 1, 1}}});
  return parts;
}

/// Defines every element as the fold of the elements of the same index on all ranks.
Definition reduce(Combine combine, const Shape& operand, uint32_t n, Leaving leaving) {
  return {combine, in_place(operand, Rank(0), n), leaving};
}

/// Defines a copy of the operand of one rank, or zeros if there is none.
Definition copy(const Shape& operand, std::optional<Rank> source) {
  return {Combine::None, in_place(operand, source.value_or(Rank(0)), source ? 1 : 0)};
}

/// Defines the operands in rank order along `axis`. They are stacked at a new dimension (untiled)
/// or concatenated along one (tiled); the row-major order is the same.
Definition all_gather(const Shape& operand, size_t axis, uint32_t n) {
  const int64_t block = operand.elements_from(axis);
  std::vector<Part> parts;
  for (uint32_t q = 0; q < n; ++q)
    add(parts, {q * block,
                0,
                Rank(q),
                1,
                {{operand.elements_before(axis), n * block, block}, {block, 1, 1}}});
  return {Combine::None, std::move(parts)};
}

/// Defines chunk number `p` of `n` along `axis` of the sum. Untiled, the extent is n, and the
/// remaining dimension of extent 1 is dropped; the row-major order is the same.
Definition psum_scatter(const Shape& operand, size_t axis, uint32_t n, Rank p) {
  const int64_t chunk = operand.elements_from(axis) / n;
  std::vector<Part> parts;
  add(parts, {0,
              p.index() * chunk,
              Rank(0),
              n,
              {{operand.elements_before(axis), chunk, n * chunk}, {chunk, 1, 1}}});
  return {Combine::Add, std::move(parts)};
}

/// Defines parts of rank q's element at each index of `chunk`. In the result it is q x
/// `result_step` further on; in the operand it starts at `source`.
Definition exchange(const Shape& chunk, const std::vector<int64_t>& result, int64_t result_step,
                    const std::vector<int64_t>& operand, int64_t source, uint32_t n) {
  std::vector<PartDim> dims;
  for (size_t d = 0; d < chunk.rank(); ++d)
    dims.push_back({chunk[d], result[d], operand[d]});
  std::vector<Part> parts;
  for (uint32_t q = 0; q < n; ++q)
    add(parts, {q * result_step, source, Rank(q), 1, dims});
  return {Combine::None, std::move(parts)};
}

/// Defines the tiled form: concatenation along `concat`, over the ranks q, of chunk p of operand q
/// along `split`.
Definition all_to_all_tiled(const Shape& operand, size_t split, size_t concat, uint32_t n, Rank p) {
  const Shape chunk = operand.with(split, operand[split] / n);
  const std::vector<int64_t> from = strides(operand);
  const std::vector<int64_t> to = strides(chunk.with(concat, chunk[concat] * n));
  return exchange(chunk, to, chunk[concat] * to[concat], from,
                  p.index() * chunk[split] * from[split], n);
}

/// Defines the untiled form: the stack at `concat`, over the ranks q, of entry p of operand q along
/// `split`.
Definition all_to_all_untiled(const Shape& operand, size_t split, size_t concat, uint32_t n,
                              Rank p) {
  const Shape entry = operand.without(split);
  std::vector<int64_t> from = strides(operand);
  std::vector<int64_t> to = strides(entry.inserted(concat, n));
  const int64_t entry_step = from[split];
  const int64_t stack_step = to[concat];
  from.erase(from.begin() + static_cast<ptrdiff_t>(split));
  to.erase(to.begin() + static_cast<ptrdiff_t>(concat));
  return exchange(entry, to, stack_step, from, p.index() * entry_step, n);
}

/// The senders' tables say where in the result their slices come, and the receiver's how large they
/// are. All other rows are as in the receiver's `output`, which lies behind its operand.
Definition ragged_all_to_all(const RaggedGroup& group, int64_t row, Rank p) {
  struct Rows {
    int64_t first;
    int64_t count;
  };
  std::vector<Part> parts;
  std::vector<Rows> received;
  for (size_t q = 0; q < group.ranks.size(); ++q) {
    for (size_t j = 0; j < group.slices_for_each(); ++j) {
      const size_t there = group.entry(p.index(), j);
      const int64_t count = group.ranks[p.index()].recv_sizes[group.entry(q, j)];
      const int64_t first = group.ranks[q].output_offsets[there];
      add(parts, {first * row,
                  group.ranks[q].input_offsets[there] * row,
                  Rank(q),
                  1,
                  {{count * row, 1, 1}}});
      if (count > 0)
        received.push_back({first, count});
    }
  }
  std::sort(received.begin(), received.end(),
            [](const Rows& a, const Rows& b) { return a.first < b.first; });
  received.push_back({group.output_rows, 0});
  int64_t kept = 0;  // where the next rows that stay begin
  for (const Rows& rows : received) {
    add(parts,
        {kept * row, (group.operand_rows + kept) * row, p, 1, {{(rows.first - kept) * row, 1, 1}}});
    kept = rows.first + rows.count;
  }
  return {Combine::None, std::move(parts)};
}

/// Returns whether each rank's result is made of the same operand elements.
bool is_alike_on_all_ranks(const Op& op) {
  const CollectiveForm& form = rules(op.kind).form;
  return form.side == Side::Both && !form.by_tables && form.source == nullptr &&
         form.operand_parts == nullptr;
}

/// Returns the folds of all parts, in the dtype of the terms.
Tensor fold(const Definition& definition, std::span<const Tensor* const> terms,
            const Shape& shape) {
  const Dtype dtype = terms[0]->dtype();
  Tensor result(dtype, shape);
  const auto item = static_cast<size_t>(itemsize(dtype).count());
  std::byte* const to = result.bytes().data();
  for (const Part& part : definition.parts) {
    part.for_each_run([&](int64_t first, int64_t source, int64_t count) {
      std::byte* const target = to + static_cast<size_t>(first) * item;
      for (uint32_t r = 0; r < part.ranks; ++r) {
        const std::byte* const from =
            terms[part.rank.index() + r]->bytes().data() + static_cast<size_t>(source) * item;
        if (r == 0)
          std::memcpy(target, from, static_cast<size_t>(count) * item);
        else
          combine_into(dtype, definition.combine, target, target, from, count);
      }
    });
  }
  return result;
}

/// Returns the number from which XLA on the CPU starts a fold.
template <class E>
E start(Combine combine) {
  if (combine == Combine::Add)
    return arith::convert<E>(arith::S64{0});
  const double infinity = std::numeric_limits<double>::infinity();
  return arith::convert<E>(arith::F64{combine == Combine::Max ? -infinity : infinity});
}

/// Does a step of such a fold.
template <class E>
E step(Combine combine, E acc, E x) {
  if (combine == Combine::Add)
    return arith::xla_cpu::add(acc, x);
  return combine == Combine::Max ? arith::xla_cpu::later_if_larger(acc, x)
                                 : arith::xla_cpu::later_if_smaller(acc, x);
}

/// Returns the folds of all parts by XLA on the CPU, in the dtype in which they are held.
Tensor xla_fold(const Definition& definition, std::span<const Tensor* const> terms,
                const Shape& shape) {
  const Dtype held = folding({terms[0]->dtype()}, definition.combine, Numerics::XlaCpu).held.dtype;
  Tensor result(held, shape);
  std::vector<Tensor> wide;
  for (const Tensor* term : terms)
    wide.push_back(convert(*term, held));
  dispatch(held, [&](auto tag) {
    using E = typename decltype(tag)::type;
    if constexpr (arith::kIsFloat<E>) {
      const std::span<E> to = result.as<E>();
      for (const Part& part : definition.parts)
        part.for_each_run([&](int64_t first, int64_t source, int64_t count) {
          for (int64_t i = 0; i < count; ++i) {
            E acc = start<E>(definition.combine);
            for (uint32_t r = 0; r < part.ranks; ++r)
              acc = step(definition.combine, acc,
                         wide[part.rank.index() + r].as<E>()[static_cast<size_t>(source + i)]);
            to[static_cast<size_t>(first + i)] = acc;
          }
        });
    } else {
      ORRERY_CHECK(false, "only folds of floats differ by numerics");
    }
  });
  return result;
}

/// Returns, per element, the lowest rank whose term, as these numerics take it, is the extremum.
Tensor ranks_of(const Definition& definition, std::span<const Tensor* const> operands,
                const Tensor& extrema, Numerics numerics) {
  std::vector<Tensor> terms;
  for (const Tensor* operand : operands)
    terms.push_back(taken(*operand, numerics));
  Tensor result(Dtype::S32, extrema.shape());
  dispatch(extrema.dtype(), [&](auto tag) {
    using E = typename decltype(tag)::type;
    for (const Part& part : definition.parts) {
      part.for_each_run([&](int64_t first, int64_t source, int64_t count) {
        for (int64_t i = 0; i < count; ++i) {
          const auto at = static_cast<size_t>(first + i);
          int32_t& rank = result.as<int32_t>()[at];
          rank = std::numeric_limits<int32_t>::max();
          for (uint32_t r = part.ranks; r-- > 0;) {
            const E x = terms[part.rank.index() + r].as<E>()[static_cast<size_t>(source + i)];
            if (arith::equal(x, extrema.as<E>()[at]))
              rank = static_cast<int32_t>(part.rank.index() + r);
          }
        }
      });
    }
  });
  return result;
}

}  // namespace

int64_t Part::elements() const {
  int64_t product = 1;
  for (const PartDim& dim : dims)
    product *= dim.count;
  return product;
}

int64_t Part::last_first() const {
  int64_t last = first;
  for (const PartDim& dim : dims)
    last += (dim.count - 1) * dim.result;
  return last;
}

int64_t Part::last_source() const {
  int64_t last = source;
  for (const PartDim& dim : dims)
    last += (dim.count - 1) * dim.operand;
  return last;
}

std::vector<PartDim> joined(std::vector<PartDim> dims) {
  size_t kept = 0;  // of the dimensions so far
  for (size_t d = 0; d < dims.size(); ++d) {
    const PartDim dim = dims[d];
    if (dim.count == 0)
      return {dim};
    if (dim.count == 1)
      continue;
    if (kept > 0 && dims[kept - 1].result == dim.count * dim.result &&
        dims[kept - 1].operand == dim.count * dim.operand)
      dims[kept - 1] = {dims[kept - 1].count * dim.count, dim.result, dim.operand};
    else
      dims[kept++] = dim;
  }
  dims.resize(kept);
  return dims;
}

/// This divides in doubles: the quotient of two floats of a narrower dtype is the same when it is
/// rounded twice (Figueroa, "When is double rounding innocuous?", SIGNUM Newsletter 30, 1995).
Tensor mean(const Tensor& sums, int64_t ranks, Numerics numerics) {
  if (numerics == Numerics::XlaCpu)
    return mean_of(sums, ranks, numerics);
  if (ranks == 1)
    return sums;
  const bool has_parts = is_complex(sums.dtype());
  Tensor wide = convert(sums, has_parts ? Dtype::C128 : Dtype::F64);
  for (double& sum : wide.as<double>())  // both parts of a complex sum
    sum /= static_cast<double>(ranks);
  return convert(wide, sums.dtype());
}

bool depends_on_order(const Definition& definition, Dtype operand, Numerics numerics) {
  if (!is_inexact(operand))
    return false;
  const bool first_zero = numerics == Numerics::XlaCpu && definition.leaving == Leaving::Same &&
                          definition.combine != Combine::None;
  return definition.combine == Combine::Add || first_zero;
}

Definition define(const Op& op, const Shape& operand, uint32_t group_size, Rank rank,
                  const RaggedGroup* tables) {
  const Attributes& given = op.attributes;
  const CollectiveForm& form = rules(op.kind).form;
  const auto dimension = [&](PartsRule rule) { return rule(given, operand); };
  if (form.side != Side::Both)  // the first of two sends to the second, else nobody does
    return copy(operand,
                group_size == 2 && rank == Rank(1) ? std::optional(Rank(0)) : std::nullopt);
  if (over_no_axes(given))
    return copy(operand, Rank(0));
  if (form.by_tables) {
    ORRERY_CHECK(tables != nullptr, "a ragged exchange is defined by its tables");
    return ragged_all_to_all(*tables, operand.elements_from(1), rank);
  }
  if (form.source != nullptr)
    return copy(operand, form.source(given, rank));
  if (form.operand_parts != nullptr && form.result_parts != nullptr) {
    const bool tiled = given.has("tiled") && given.boolean("tiled");
    return (tiled ? all_to_all_tiled : all_to_all_untiled)(
        operand, dimension(form.operand_parts), dimension(form.result_parts), group_size, rank);
  }
  if (form.result_parts != nullptr)
    return all_gather(operand, dimension(form.result_parts), group_size);
  if (form.operand_parts != nullptr)
    return psum_scatter(operand, dimension(form.operand_parts), group_size, rank);
  ORRERY_CHECK(form.combine != Combine::None, "only collectives have a definition over a group");
  return reduce(form.combine, operand, group_size, form.leaving);
}

Definitions::Definitions(const Op& op, Shape operand, uint32_t group_size,
                         const RaggedGroup* tables)
    : op_(op),
      operand_(std::move(operand)),
      group_size_(group_size),
      tables_(tables),
      alike_(is_alike_on_all_ranks(op)) {}

const std::shared_ptr<const Definition>& Definitions::of(Rank rank) {
  if (last_ && (alike_ || rank == rank_))
    return last_;
  Definition made = define(op_, operand_, group_size_, rank, tables_);
  rank_ = rank;
  if (!last_ || made != *last_)
    last_ = std::make_shared<const Definition>(std::move(made));
  return last_;
}

Tensor apply(const Definition& definition, std::span<const Tensor* const> operands, Dtype dtype,
             const Shape& shape, Numerics numerics) {
  std::vector<Tensor> counted;
  std::vector<const Tensor*> terms(operands.begin(), operands.end());
  const Dtype summed = summed_dtype(operands[0]->dtype());
  if (definition.combine == Combine::Add && operands[0]->dtype() != summed) {
    for (const Tensor* operand : operands)
      counted.push_back(convert(*operand, summed));
    for (size_t r = 0; r < counted.size(); ++r)
      terms[r] = &counted[r];
  }
  const bool by_xla =
      numerics == Numerics::XlaCpu && definition.combine != Combine::None && is_inexact(summed);
  const Tensor folded =
      by_xla ? xla_fold(definition, terms, shape) : fold(definition, terms, shape);
  switch (definition.leaving) {
    case Leaving::Same:
      return folded.dtype() == dtype ? folded : convert(folded, dtype);
    case Leaving::Mean:
      return mean(convert(folded, dtype), static_cast<int64_t>(operands.size()), numerics);
    case Leaving::ItsRank:
      return ranks_of(definition, terms, folded, numerics);
  }
  fail_check("leaving is an enumerator", "results are made in one of these ways", __FILE__,
             __LINE__);
}

}  // namespace orrery
