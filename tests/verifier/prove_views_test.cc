// Tests that a proof covers the views. With a wrong view the proof must fail, and must name the
// same element as a comparison of all elements.

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "simulator/algorithm/pairwise.h"
#include "simulator/algorithm/ring.h"
#include "simulator/schedule/view.h"
#include "tests/support/property.h"
#include "tests/verifier/definition_by_element.h"
#include "verifier/prove/prove.h"

using namespace orrery;
using namespace orrery::test;

namespace {

/// `Counts` says how often each (rank, operand element) is in a result element. It is empty where
/// nothing was written.
using Counts = std::optional<std::map<std::pair<int64_t, int64_t>, int64_t>>;

/// Returns the first wrong element, by rank and offset: "rank element".
std::string first_difference(const Traced& traced, const Views& views, const Op& op,
                             const Shape& operand, uint32_t n) {
  for (uint32_t p = 0; p < n; ++p) {
    const std::vector<DefinedElement> defined = define_by_element(op, operand, n, Rank(p));
    std::vector<Counts> made(defined.size());
    for (const Piece& piece : traced.run.outputs[p]) {
      for (int64_t i = 0; i < piece.count; ++i) {
        Counts& counts = made[static_cast<size_t>(views.output.offset(piece.first + i))];
        if (piece.undefined())
          continue;
        counts.emplace();
        for (const Contribution& part : traced.run.folds.contributions(piece.made))
          for (uint32_t r = 0; r < part.ranks; ++r)
            (*counts)[{part.rank.index() + r, views.input.offset(part.source + i)}] += part.times;
      }
    }
    for (size_t e = 0; e < defined.size(); ++e) {
      Counts expected(std::in_place);
      for (uint32_t r = 0; r < defined[e].ranks; ++r)
        (*expected)[{defined[e].rank.index() + r, defined[e].source}] = 1;
      if (made[e] != expected)
        return std::to_string(p) + " " + std::to_string(e);
    }
  }
  return "none";
}

std::string first_difference(const Proof& proof) {
  if (proof.holds)
    return "none";
  return proof.witness.at(0).second + " " + proof.witness.at(1).second;
}

/// A `RandomExchange` is a random all_to_all, all_gather or psum_scatter with one of its
/// algorithms.
struct RandomExchange {
  Op op;
  uint32_t n;
  Shape operand;
  CollectiveViews views;
  std::unique_ptr<Schedule> schedule;
};

RandomExchange random_exchange() {
  RandomExchange made;
  made.n = in_range<uint32_t>(2, 5);
  const auto rank = in_range<size_t>(1, 4);
  std::vector<int64_t> dims;
  for (size_t d = 0; d < rank; ++d)
    dims.push_back(in_range<int64_t>(1, 4));
  const auto a = in_range<size_t>(0, rank);
  const auto b = in_range<size_t>(0, rank);
  made.op.kind = one_of(OpKind::AllToAll, OpKind::AllGather, OpKind::PsumScatter);
  const bool gathers = made.op.kind == OpKind::AllGather;
  if (!gathers)
    dims[a] *= made.n;
  made.operand = Shape(dims);
  made.op.attributes.set("axis_name", std::vector<std::string>{"x"});
  made.op.attributes.set("tiled", true);
  for (const char* const axis : {"axis", "scatter_dimension", "split_axis"})
    made.op.attributes.set(axis, static_cast<int64_t>(a));
  made.op.attributes.set("concat_axis", static_cast<int64_t>(b));
  Shape result = made.operand;
  if (!gathers)
    result = result.with(a, result[a] / made.n);
  if (made.op.kind != OpKind::PsumScatter) {
    const size_t grown = gathers ? a : b;
    result = result.with(grown, result[grown] * made.n);
  }
  made.views = collective_views(made.op, made.operand, result, made.n);
  const int64_t elements = made.operand.elements();
  if (made.op.kind == OpKind::AllToAll)
    made.schedule = std::make_unique<PairwiseSchedule>(made.n, elements / made.n, Transport{});
  else
    made.schedule = std::make_unique<RingSchedule>(
        gathers ? RingSchedule::Form::AllGather : RingSchedule::Form::ReduceScatter, made.n,
        gathers ? elements * made.n : elements, gathers ? Combine::None : Combine::Add,
        Transport{});
  return made;
}

/// Exchanges two of the view's dimensions in the tensor.
void exchange_dimensions(View& view) {
  if (view.dims.size() < 2)
    view = {{1, view.elements()}, {1, 1}};
  std::vector<int64_t> dims(view.dims.begin(), view.dims.end());
  std::vector<int64_t> strides(view.strides.begin(), view.strides.end());
  const auto i = in_range<size_t>(0, dims.size());
  const auto j = in_range<size_t>(0, dims.size());
  std::swap(dims[i], dims[j]);
  std::swap(strides[i], strides[j]);
  view = {dims, strides};
}

Proof proof_of(const RandomExchange& exchange, const Traced& traced) {
  return prove(traced, {exchange.views.input, exchange.views.output},
               [&](Rank rank) { return define(exchange.op, exchange.operand, exchange.n, rank); });
}

}  // namespace

TEST_CASE("proof: the views of lowering are right, and changed ones are found") {
  holds_for_all("views", [] {
    RandomExchange exchange = random_exchange();
    const Traced traced = trace(*exchange.schedule, whole_areas(exchange.schedule->extent()));
    RC_ASSERT(proof_of(exchange, traced).holds);
    exchange_dimensions(any_bool() ? exchange.views.input : exchange.views.output);
    const Views views{exchange.views.input, exchange.views.output};
    RC_ASSERT(first_difference(proof_of(exchange, traced)) ==
              first_difference(traced, views, exchange.op, exchange.operand, exchange.n));
  });
}

TEST_CASE("proof: a view that ignores the tensor's layout is found, with element and rank") {
  // Rank 1's column of [[0, 1], [2, 3]] is sent as if it were its row.
  Op op;
  op.kind = OpKind::AllToAll;
  op.attributes.set("axis_name", std::vector<std::string>{"x"});
  op.attributes.set("split_axis", int64_t{1});
  op.attributes.set("concat_axis", int64_t{0});
  op.attributes.set("tiled", true);
  const PairwiseSchedule pairwise(2, 2, {});
  const Traced traced = trace(pairwise, whole_areas(pairwise.extent()));
  const auto definition = [&](Rank rank) { return define(op, {2, 2}, 2, rank); };
  const View columns{{2, 2, 1}, {1, 2, 1}};
  const View whole = View::whole(4);
  CHECK(prove(traced, {columns, whole}, definition).holds);
  // Rank 0 gets elements 0 and 1 of each operand, instead of 0 and 2.
  CHECK(prove(traced, {whole, whole}, definition).why_not ==
        "element 1 of rank 0 lacks element 2 of rank 0");
}

TEST_CASE("proof: a view with two elements at one offset is refused") {
  Op op;
  op.kind = OpKind::Psum;
  op.attributes.set("axis_name", std::vector<std::string>{"x"});
  const RingSchedule ring(RingSchedule::Form::AllReduce, 2, 4, Combine::Add, {});
  const Traced traced = trace(ring, whole_areas(ring.extent()));
  const auto definition = [&](Rank rank) { return define(op, {4}, 2, rank); };
  const View whole = View::whole(4);
  const View twice{{2, 2}, {1, 1}};
  CHECK(prove(traced, {whole, twice}, definition).why_not ==
        "the view of the result does not map its 4 elements to as many offsets");
  CHECK(prove(traced, {twice, whole}, definition).why_not ==
        "the view of the operand does not map its 4 elements to as many offsets");
}

TEST_CASE("proof: a result with more elements than its definition fails") {
  Op op;
  op.kind = OpKind::Psum;
  op.attributes.set("axis_name", std::vector<std::string>{"x"});
  const RingSchedule ring(RingSchedule::Form::AllReduce, 2, 4, Combine::Add, {});
  const View whole = View::whole(4);
  CHECK(prove(trace(ring, whole_areas(ring.extent())), {whole, whole}, [&](Rank rank) {
          return define(op, {3}, 2, rank);
        }).why_not == "the result of rank 0 has 4 elements and its definition 3");
}

TEST_CASE("proof: a definition that states one element twice and another never is refused") {
  const RingSchedule ring(RingSchedule::Form::AllReduce, 2, 4, Combine::Add, {});
  const View whole = View::whole(4);
  const auto definition = [](Rank) {
    return Definition{Combine::Add,
                      {{0, 0, Rank(0), 2, {{3, 1, 1}}}, {2, 2, Rank(0), 2, {{1, 1, 1}}}}};
  };
  CHECK(prove(trace(ring, whole_areas(ring.extent())), {whole, whole}, definition).why_not ==
        "the definition of rank 0 does not say once what each of its 4 elements is");
}
