#include "simulator/values/provenance.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "simulator/schedule/step_table.h"
#include "simulator/schedule/walk.h"

namespace orrery {

namespace {

const char* name(Area area) {
  switch (area) {
    case Area::Input:
      return "input";
    case Area::Output:
      return "output";
    case Area::Scratch:
      return "scratch";
  }
  fail_check("area is an enumerator", "an area is one of the enumeration", __FILE__, __LINE__);
}

std::string text(const Slice& slice) {
  return fmt::format("{}[{}, {})", name(slice.area), slice.first, slice.first + slice.count);
}

std::string text(StepRef ref) {
  return fmt::format("node {}, channel {}, step {}", ref.node.index(), ref.channel.index(),
                     ref.index);
}

Pieces undefined_pieces(int64_t count) {
  if (count <= 0)
    return {};
  return {{0, count, true, {}}};
}

int64_t length(const Pieces& pieces) {
  return pieces.empty() ? 0 : pieces.back().first + pieces.back().count;
}

/// The areas of all nodes, the messages under way, and the payloads that steps hold between their
/// halves.
class Visitor {
 public:
  Visitor(const Schedule& schedule, CollectiveId id, Bytes itemsize)
      : schedule_(schedule),
        extent_(schedule.extent()),
        id_(id),
        itemsize_(itemsize),
        messages_(extent_, {}),
        held_(size_t{extent_.nodes} * extent_.channels) {
    areas_.reserve(size_t{extent_.nodes} * 3);
    for (uint32_t n = 0; n < extent_.nodes; ++n) {
      areas_.emplace_back(extent_.input, false, Contributions{{Rank(n), 1, 0, 1}});
      areas_.emplace_back(extent_.in_place ? 0 : extent_.output, !extent_.zero_output,
                          Contributions{});
      areas_.emplace_back(extent_.scratch, true, Contributions{});
    }
  }

  void receive(StepRef ref, const Step& step) {
    digest_.add(id_, ref, Half::Receive, bytes_moved(step, Half::Receive, itemsize_));
    if (step.source && step.target && step.source->count != step.target->count) {
      fault(ref, "has a source of {} elements and a target of {}", step.source->count,
            step.target->count);
      return;
    }
    Pieces payload;
    if (step.from)
      payload = take(ref, step);
    if (step.combine != Combine::None) {
      combines_.insert(step.combine);
      if (!step.from)
        payload = read(ref, step.target, step.count());
      payload = combined(payload, read(ref, step.source, step.count()));
    } else if (!step.from) {
      if (!step.target)
        return;  // a step that only sends reads its source when it does
      payload = read(ref, step.source, step.count());
    }
    if (step.target)
      write(ref, *step.target, payload);
    else if (step.to)
      held(ref) = std::move(payload);
  }

  void send(StepRef ref, const Step& step) {
    digest_.add(id_, ref, Half::Send, bytes_moved(step, Half::Send, itemsize_));
    if (!step.to)
      return;
    Pieces& message = messages_.at(schedule_.peer(ref, Half::Send));
    if (step.target)
      message = read(ref, *step.target);
    else if (!step.from && step.source && step.combine == Combine::None)
      message = read(ref, *step.source);
    else
      message = std::exchange(held(ref), {});
  }

  ProvenanceRun result(std::vector<Parked> stuck) {
    ProvenanceRun run;
    run.outputs.reserve(extent_.nodes);
    for (uint32_t n = 0; n < extent_.nodes; ++n)
      run.outputs.push_back(area(Node(n), Area::Output).pieces());
    run.combines.assign(combines_.begin(), combines_.end());
    run.digest = digest_;
    run.stuck = std::move(stuck);
    run.misread = std::move(misread_);
    return run;
  }

 private:
  PieceMap& area(Node node, Area area) {
    if (area == Area::Output && extent_.in_place)
      area = Area::Input;
    return areas_[size_t{node.index()} * 3 + static_cast<size_t>(area)];
  }

  Pieces& held(StepRef ref) {
    return held_[size_t{ref.node.index()} * extent_.channels + ref.channel.index()];
  }

  template <class... Arguments>
  void fault(StepRef ref, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    if (!misread_)
      misread_ = text(ref) + " " + fmt::format(format, std::forward<Arguments>(arguments)...);
  }

  bool inside(StepRef ref, const Slice& slice, const char* what) {
    const int64_t size = area(ref.node, slice.area).size();
    if (slice.first >= 0 && slice.count >= 0 && slice.count <= size &&
        slice.first <= size - slice.count)
      return true;
    fault(ref, "{} {}, but its {} has {} elements", what, text(slice), name(slice.area), size);
    return false;
  }

  Pieces read(StepRef ref, const std::optional<Slice>& slice, int64_t count) {
    if (slice)
      return read(ref, *slice);
    if (count > 0)
      fault(ref, "moves {} elements from nowhere", count);
    return undefined_pieces(count);
  }

  Pieces read(StepRef ref, const Slice& slice) {
    if (!inside(ref, slice, "reads"))
      return undefined_pieces(slice.count);
    Pieces pieces = area(ref.node, slice.area).read(slice.first, slice.count);
    const auto undefined = std::find_if(pieces.begin(), pieces.end(),
                                        [](const Piece& piece) { return piece.undefined; });
    if (undefined != pieces.end()) {
      const Slice unwritten{slice.area, slice.first + undefined->first, undefined->count};
      fault(ref, "reads {}, of which nothing has written {}", text(slice), text(unwritten));
    }
    return pieces;
  }

  void write(StepRef ref, const Slice& slice, const Pieces& payload) {
    if (inside(ref, slice, "writes"))
      area(ref.node, slice.area).write(slice.first, payload);
  }

  /// The message of a receiving step, which has as many elements as the step.
  Pieces take(StepRef ref, const Step& step) {
    Pieces message = std::exchange(messages_.at(ref), {});
    if (length(message) == step.count())
      return message;
    fault(ref, "takes {} elements of a message of {}", step.count(), length(message));
    return undefined_pieces(step.count());
  }

  const Schedule& schedule_;
  const Extent& extent_;
  CollectiveId id_;
  Bytes itemsize_;
  std::vector<PieceMap> areas_;  // per node: input, output, scratch
  StepTable<Pieces> messages_;   // by receiving step
  std::vector<Pieces> held_;     // per node and channel
  std::set<Combine> combines_;
  Digest digest_;
  std::optional<std::string> misread_;
};

}  // namespace

ProvenanceRun provenance(const Schedule& schedule, CollectiveId id, Bytes itemsize) {
  Visitor visitor(schedule, id, itemsize);
  std::vector<Parked> stuck = walk(schedule, visitor);
  return visitor.result(std::move(stuck));
}

}  // namespace orrery
