#include "simulator/values/provenance.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "simulator/schedule/step_table.h"

namespace orrery {

namespace {

std::string text(const Slice& slice) {
  return fmt::format("{}[{}, {})", name(slice.area), slice.first, slice.first + slice.count);
}

Pieces undefined_pieces(int64_t count) {
  if (count <= 0)
    return {};
  return {{0, count, FoldTable::undefined()}};
}

/// A Visitor has the areas of all nodes, the messages in flight, and the payloads that steps hold
/// between their halves. It runs the actions of actions.h on pieces.
class Visitor {
 public:
  Visitor(const Schedule& schedule, const Buffers& buffers, CollectiveId id, Bytes itemsize,
          uint64_t budget)
      : schedule_(schedule),
        buffers_(buffers),
        extent_(schedule.extent()),
        id_(id),
        itemsize_(itemsize),
        budget_(budget),
        messages_(schedule_, {}),
        held_(extent_.all_channels()) {
    areas_.reserve(size_t{extent_.nodes} * 3);
    for (uint32_t n = 0; n < extent_.nodes; ++n) {
      const Node node(n);
      if (extent_.is_rank(node)) {
        // Most operands fill the input area.
        const bool whole = buffers.operand.step == 0 && buffers.operand.count == extent_.input;
        PieceMap& input = areas_.emplace_back(
            extent_.input, whole ? folds_.input(Rank(n), 0) : FoldTable::undefined());
        if (!whole && buffers.operand.count > 0)
          input.write(buffers.operand.step * n,
                      {{0, buffers.operand.count, folds_.input(Rank(n), 0)}});
        areas_.emplace_back(extent_.in_place ? 0 : extent_.output,
                            extent_.zero_output ? FoldTable::zero() : FoldTable::undefined());
      } else {
        areas_.resize(areas_.size() + 2, PieceMap(0, FoldTable::undefined()));
      }
      areas_.emplace_back(extent_.size(node, Area::Scratch), FoldTable::undefined());
    }
  }

  void receive(StepRef ref, const Step& step) {
    if (step.source && step.target && step.source->count != step.target->count)
      add_error(ref, "has a source of {} elements and a target of {}", step.source->count,
                step.target->count);
    else
      run_half(ref, Half::Receive, step);
  }

  void send(StepRef ref, const Step& step) { run_half(ref, Half::Send, step); }

  ProvenanceRun result(std::vector<Parked> stuck) {
    ProvenanceRun run;
    run.outputs.reserve(extent_.ranks());
    for (uint32_t n = 0; n < extent_.ranks(); ++n)
      run.outputs.push_back(
          area(Node(n), Area::Output).read(buffers_.result.step * n, buffers_.result.count));
    run.pieces = pieces();
    run.over_budget = over_budget();
    run.folds = std::move(folds_);
    run.combines = std::move(combines_);
    run.digest = {halves_, moves_};
    run.stuck = std::move(stuck);
    run.misread = std::move(misread_);
    return run;
  }

 private:
  uint64_t pieces() const { return moved_ + folds_.all_contributions(); }
  bool over_budget() const { return pieces() > budget_; }

  /// The function is flattened: proofs of large schedules take a sixth less time.
  [[gnu::flatten]] void run_half(StepRef ref, Half half, const Step& step) {
    if (over_budget())
      return;
    Pieces payload;
    int64_t elements = 0;  // that the last action moved
    for_each_action(step.form(), half, [&](Action action) {
      const Slice* slice = step.slice(action.slice);
      if (action.kind != ActionKind::Free)  // messages take no memory here
        elements = act(ref, step, action.kind, slice, payload);
      moves_.add_move(id_, ref, action.kind, slice, itemsize_ * elements);
    });
    halves_.add(id_, ref, half, itemsize_ * elements);
  }

  /// Returns the number of elements moved.
  int64_t act(StepRef ref, const Step& step, ActionKind action, const Slice* slice,
              Pieces& payload) {
    switch (action) {
      case ActionKind::Take:
        payload = take(ref, step.count());
        break;
      case ActionKind::Read:
        payload = read(ref, slice, step.count());
        break;
      case ActionKind::Combine: {
        const auto first = combines_.emplace(step.combine, ref).first;
        first->second = std::min(first->second, ref);
        payload = combined(folds_, step.combine, payload, read(ref, slice, step.count()));
        break;
      }
      case ActionKind::Store:
        if (inside(ref, *slice, "writes"))
          area(ref.node, slice->area).write(slice->first, payload);
        break;
      case ActionKind::Hold:
        return moved(payload, held(ref));
      case ActionKind::Recall:
        return moved(held(ref), payload);
      case ActionKind::Emit:
        return moved(payload, messages_.at(schedule_.peer(ref, Half::Send)));
      case ActionKind::Free:
        return 0;
    }
    moved_ += payload.size();
    return length(payload);
  }

  int64_t moved(Pieces& from, Pieces& to) {
    to = std::exchange(from, {});
    moved_ += to.size();
    return length(to);
  }

  PieceMap& area(Node node, Area named) {
    return areas_[size_t{node.index()} * 3 + static_cast<size_t>(extent_.area(named))];
  }

  Pieces& held(StepRef ref) { return held_[extent_.number_of(ref.node, ref.channel)]; }

  template <class... Arguments>
  void add_error(StepRef ref, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    if (!misread_)
      misread_ = Misread{
          ref, step_text(ref) + " " + fmt::format(format, std::forward<Arguments>(arguments)...)};
  }

  bool inside(StepRef ref, const Slice& slice, const char* what) {
    const int64_t size = area(ref.node, slice.area).size();
    if (slice.first >= 0 && slice.count >= 0 && slice.count <= size &&
        slice.first <= size - slice.count)
      return true;
    add_error(ref, "{} {}, but its {} has {} elements", what, text(slice), name(slice.area), size);
    return false;
  }

  /// Reads a slice of a step that moves `count` elements; null if the step has no such slice.
  Pieces read(StepRef ref, const Slice* slice, int64_t count) {
    if (slice == nullptr) {
      if (count > 0)
        add_error(ref, "moves {} elements from nowhere", count);
      return undefined_pieces(count);
    }
    if (!inside(ref, *slice, "reads"))
      return undefined_pieces(slice->count);
    Pieces pieces = area(ref.node, slice->area).read(slice->first, slice->count);
    const auto undefined = std::find_if(pieces.begin(), pieces.end(),
                                        [](const Piece& piece) { return piece.undefined(); });
    if (undefined != pieces.end()) {
      const Slice unwritten{slice->area, slice->first + undefined->first, undefined->count};
      add_error(ref, "reads {}, of which nothing has written {}", text(*slice), text(unwritten));
    }
    return pieces;
  }

  /// Takes the message of a receiving step that moves `count` elements.
  Pieces take(StepRef ref, int64_t count) {
    Pieces message = std::exchange(messages_.at(ref), {});
    if (length(message) == count)
      return message;
    add_error(ref, "takes {} elements of a message of {}", count, length(message));
    return undefined_pieces(count);
  }

  const Schedule& schedule_;
  const Buffers& buffers_;
  const Extent& extent_;
  CollectiveId id_;
  Bytes itemsize_;
  uint64_t budget_;
  uint64_t moved_ = 0;  // pieces
  FoldTable folds_;
  std::vector<PieceMap> areas_;  // per node: input, output, scratch
  StepTable<Pieces> messages_;   // by receiving step
  std::vector<Pieces> held_;     // per node and channel
  std::map<Combine, StepRef> combines_;
  Digest halves_;
  Digest moves_;
  std::optional<Misread> misread_;
};

}  // namespace

Buffers whole_areas(const Extent& extent) {
  return {{0, extent.input}, {0, extent.result()}};
}

ProvenanceRun provenance(const Schedule& schedule, const Buffers& buffers, CollectiveId id,
                         Bytes itemsize, uint64_t budget, const std::vector<OrderedHalf>* order) {
  Visitor visitor(schedule, buffers, id, itemsize, budget);
  if (order == nullptr)
    return visitor.result(walk(schedule, visitor));
  for (const OrderedHalf& each : *order)
    if (each.half == Half::Receive)
      visitor.receive(each.ref, each.step);
    else
      visitor.send(each.ref, each.step);
  return visitor.result({});
}

}  // namespace orrery
