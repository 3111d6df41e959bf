// This file has the batch rules of collectives that move parts between ranks.
//
// A collective may be over several axes, one of which is the batched one, whose place the batch
// takes. A rank of the collective is then a triple (before, here, after) of its indices over the
// axes before the batched one, along the batched one, and over the axes after it. `here` is an
// entry of the batch, so movement between entries is a local rearrangement. Movement along the
// other axes is a collective over them, on all entries at once.

#include <algorithm>
#include <map>

#include "models/program/batch_ops.h"
#include "models/program/families.h"
#include "models/program/rules.h"

namespace orrery::batching {

namespace {

using enum OpKind;

/// Exchanged says which dimensions an all_to_all splits and stacks.
struct Exchanged {
  size_t split = 0;
  size_t concat = 0;
  bool tiled = false;
};

/// Does an all_to_all over axes of which one is batched: receiver r gets part r of each sender's
/// operand. In the comments, s is a sender's rank and r a receiver's, each as (before, here,
/// after). Dimensions are in [], where "..." are the other dimensions of an element.
BatchOutcome exchanged_here(BatchCall& call, const Exchanged& by, const OpAxes& axes) {
  const Shape& shape = call.operand_type(0).shape;
  const int64_t ranks = call.size() * axes.others();
  ShapedValue part = batched_at(call, 0, 0);

  // The operand is split into a part for each receiver: [s here, ..., r before, r here, r after,
  // ...]. If tiled, a part's own extent follows.
  Integers dims = {call.size()};
  for (size_t d = 0; d < shape.rank(); ++d) {
    if (d != by.split) {
      dims.push_back(shape[d]);
      continue;
    }
    dims.insert(dims.end(), {axes.before, call.size(), axes.after});
    if (by.tiled)
      dims.push_back(shape[d] / ranks);
  }
  part = reshaped(call, std::move(part), Shape(std::move(dims)));
  // These dimensions go to the front: [r before, r after, r here, s here, ...].
  const auto first = static_cast<int64_t>(by.split) + 1;
  Integers permutation = {first, first + 2, first + 1, 0};
  for (int64_t d = 1; d < static_cast<int64_t>(part.shape.rank()); ++d)
    if (d < first || d > first + 2)
      permutation.push_back(d);
  part = transposed(call, std::move(part), permutation);
  // Over the other axes, each rank sends to r the parts for r: [s before, s after, r here, s here,
  // ...].
  if (!axes.names.empty()) {
    const Shape apart = part.shape;
    part = reshaped(call, std::move(part), apart.without(0).with(0, axes.others()));
    Attributes attributes = over(call, axes, Pswapaxes);
    attributes.set("axis", int64_t{0});
    part.value = op(call, Pswapaxes, {part.value}, std::move(attributes));
    part = reshaped(call, std::move(part), apart);
  }
  // The parts are stacked in the order of the senders: [r here, ..., s before, s here, s after,
  // ...].
  permutation = {2};
  const auto at = static_cast<int64_t>(by.concat) + 4;
  for (int64_t d = 4; d <= static_cast<int64_t>(part.shape.rank()); ++d) {
    if (d == at)
      permutation.insert(permutation.end(), {0, 3, 1});
    if (d < static_cast<int64_t>(part.shape.rank()))
      permutation.push_back(d);
  }
  part = transposed(call, std::move(part), permutation);
  return result(
      reshaped(call, std::move(part), call.result_type().shape.inserted(0, call.size())).value, 0);
}

}  // namespace

BatchOutcome all_to_all(BatchCall& call) {
  const OpAxes axes = axes_of(call);
  const int64_t split = call.attributes().integer("split_axis");
  const int64_t concat = call.attributes().integer("concat_axis");
  const bool tiled = call.attributes().boolean("tiled");
  if (axes.batched)
    return exchanged_here(call, {static_cast<size_t>(split), static_cast<size_t>(concat), tiled},
                          axes);
  size_t batch = *call.operand(0).dimension;
  Attributes attributes = call.attributes();
  attributes.set("split_axis", shifted(split, batch));
  // An untiled op removes the split dimension and then inserts the stacked one. Either moves the
  // batch's dimension if that comes later.
  if (!tiled && shifted(split, batch) < static_cast<int64_t>(batch))
    --batch;
  attributes.set("concat_axis", shifted(concat, batch));
  if (!tiled && shifted(concat, batch) <= static_cast<int64_t>(batch))
    ++batch;
  return same_op(call, std::move(attributes), batch);
}

BatchOutcome pswapaxes(BatchCall& call) {
  const OpAxes axes = axes_of(call);
  const int64_t axis = call.attributes().integer("axis");
  if (axes.batched)
    return exchanged_here(call, {static_cast<size_t>(axis), static_cast<size_t>(axis), false},
                          axes);
  const size_t batch = *call.operand(0).dimension;
  Attributes attributes = call.attributes();
  attributes.set("axis", shifted(axis, batch));
  return same_op(call, std::move(attributes), batch);
}

namespace {

using Pairs = std::vector<Integers>;         // [source, destination]
using Sources = std::map<int64_t, int64_t>;  // by destination

/// Factors are a permutation of ranks (before, here, after) as two permutations. `here` permutes
/// the entries of the batch, alike on each rank. `others` permutes the ranks, alike for each entry.
struct Factors {
  Sources here;
  Sources others;
};

/// Returns nothing if the permutation is no such pair.
std::optional<Factors> factors(const BatchCall& call, const OpAxes& axes, const Pairs& pairs) {
  const int64_t size = call.size();
  const auto here = [&](int64_t rank) { return rank / axes.after % size; };
  const auto other = [&](int64_t rank) {
    return rank / axes.after / size * axes.after + rank % axes.after;
  };
  Factors factors;
  for (const Integers& pair : pairs) {
    const int64_t source = pair[0];
    const int64_t to = pair[1];
    if (factors.here.emplace(here(to), here(source)).first->second != here(source) ||
        factors.others.emplace(other(to), other(source)).first->second != other(source))
      return std::nullopt;
  }
  if (factors.here.size() * factors.others.size() != pairs.size())
    return std::nullopt;
  return factors;
}

/// Makes entry b of the result entry sources[b] of `part`, or zeros if there is no such source.
/// Entries that stay neighbours are moved together.
ShapedValue rearranged(BatchCall& call, const ShapedValue& part, const Sources& sources) {
  std::vector<ShapedValue> runs;
  for (int64_t b = 0; b < call.size();) {
    const auto begin = sources.find(b);
    int64_t end = b + 1;
    if (begin == sources.end()) {
      while (end < call.size() && !sources.contains(end))
        ++end;
      runs.push_back(zeros(call, part.shape.with(0, end - b), call.operand_type(0)));
    } else {
      for (auto next = std::next(begin);
           next != sources.end() && next->first == end && next->second == begin->second + end - b;
           ++next)
        ++end;
      runs.push_back(cut(call, part, 0, begin->second, begin->second + end - b));
    }
    b = end;
  }
  return joined(call, runs, 0);
}

constexpr const char* kNoFactors =
    "a permutation over the batched axis and others at once, which is not one of each";

/// Returns the attributes of `kind` over the other axes.
Attributes between(BatchCall& call, OpKind kind, const OpAxes& axes, const Sources& others) {
  Pairs pairs;
  for (const auto& [to, source] : others)
    pairs.push_back({source, to});
  Attributes attributes = over(call, axes, kind);
  attributes.set("perm", std::move(pairs));
  return attributes;
}

BatchOutcome permuted(BatchCall& call, const Pairs& pairs) {
  const OpAxes axes = axes_of(call);
  const std::optional<Factors> by = factors(call, axes, pairs);
  if (!by)
    return kNoFactors;
  // If the operand is not batched, its entries are alike, and a permutation of all changes nothing.
  const bool all_alike =
      !call.operand(0).dimension && by->here.size() == static_cast<size_t>(call.size());
  ShapedValue part =
      all_alike ? operand(call, 0) : rearranged(call, batched_at(call, 0, 0), by->here);
  if (!axes.names.empty())
    part.value = op(call, Ppermute, {part.value}, between(call, Ppermute, axes, by->others));
  return result(part.value, all_alike ? std::nullopt : std::optional<size_t>(0));
}

}  // namespace

BatchOutcome ppermute(BatchCall& call) {
  if (!axes_of(call).batched)
    return same_op(call, call.attributes(), call.operand(0).dimension);
  return permuted(call, call.attributes().lists("perm"));
}

BatchOutcome pshuffle(BatchCall& call) {
  if (!axes_of(call).batched)
    return same_op(call, call.attributes(), call.operand(0).dimension);
  Pairs pairs;
  for (const int64_t source : call.attributes().integers("perm"))
    pairs.push_back({source, static_cast<int64_t>(pairs.size())});
  return permuted(call, pairs);
}

// Along the batched axis the array is already here. It is rearranged, and stands for the token. If
// the op is over other axes too, the array is then sent along these.
BatchOutcome psend(BatchCall& call) {
  const OpAxes axes = axes_of(call);
  if (!axes.batched)
    return same_op(call, call.attributes(), call.operand(0).dimension);
  const std::optional<Factors> by = factors(call, axes, call.attributes().lists("perm"));
  if (!by)
    return kNoFactors;
  std::string sent = rearranged(call, batched_at(call, 0, 0), by->here).value;
  if (!axes.names.empty())
    sent = op(call, Psend, {sent}, between(call, Psend, axes, by->others));
  return result(std::move(sent), 0);
}

BatchOutcome precv(BatchCall& call) {
  const OpAxes axes = axes_of(call);
  // A token has the batch along the same dimension as the array that its psend sent.
  if (call.operands() == 0 || !call.operand(0).dimension)
    return "its psend is not in the program that is batched";
  const size_t batch = *call.operand(0).dimension;
  if (axes.batched && axes.names.empty())
    return result(call.operand(0).value, batch);
  Attributes attributes = call.attributes();
  if (axes.batched) {
    const std::optional<Factors> by = factors(call, axes, call.attributes().lists("perm"));
    if (!by)
      return kNoFactors;
    attributes = between(call, Precv, axes, by->others);
  }
  attributes.set("shape", with_own(call.attributes().integers("shape"), batch, call.size()));
  return same_op(call, std::move(attributes), batch);
}

BatchOutcome pbroadcast(BatchCall& call) {
  const OpAxes axes = axes_of(call);
  const std::optional<size_t> batch = call.operand(0).dimension;
  if (!axes.batched)
    return same_op(call, call.attributes(), batch);
  const int64_t source = call.attributes().integer("source");
  const int64_t entry = source / axes.after % call.size();
  ShapedValue part = operand(call, 0);
  if (batch)
    part = reshaped(call, cut(call, part, *batch, entry, entry + 1), call.operand_type(0).shape);
  if (!axes.names.empty()) {
    Attributes attributes = over(call, axes);
    attributes.set("source", source / axes.after / call.size() * axes.after + source % axes.after);
    part.value = op(call, Pbroadcast, {part.value}, std::move(attributes));
  }
  return result(part.value, std::nullopt);
}

}  // namespace orrery::batching
