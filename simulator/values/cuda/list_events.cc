#include "simulator/values/cuda/list_events.h"

#include "models/base/check.h"

namespace orrery::cuda {

ListEvents::ListEvents(const ProgramLists& lists, WorkGraph& graph, CauseEdges& causes)
    : lists_(lists), graph_(graph), causes_(causes), of_(lists.size()) {
  for (uint32_t l = 0; l < lists.size(); ++l) {
    of_[l].reached.resize(lists.tape(ListId(l)).size());
    of_[l].ended.resize(lists.tape(ListId(l)).size());
  }
}

Dependencies ListEvents::before(ListId list, Moment moment) {
  // An Enter comes after its own instruction.
  go_to(list, moment.instruction + (moment.kind == MomentKind::Passed ? 0 : 1));
  Dependencies after;
  for_each_cause(lists_.tape(list), moment, [&](Moment cause) {
    causes_.add(EdgeKind::List, at(list, cause), after);
    return true;
  });
  return after;
}

void ListEvents::passed(ListId list, uint32_t instruction, const Frontier& frontier) {
  OfList& of = of_[list.index()];
  ORRERY_CHECK(of.next == instruction, "a list passes its instructions in order");
  of.next = instruction + 1;
  of.passed = frontier;
  of.reached[instruction] = frontier;
}

void ListEvents::ended(EnterRef entry, const Frontier& frontier) {
  of_[entry.list.index()].ended[entry.enter] = frontier;
}

void ListEvents::go_to(ListId list, uint32_t end) {
  while (of_[list.index()].next < end) {
    const uint32_t instruction = of_[list.index()].next;
    Dependencies after = before(list, {MomentKind::Passed, instruction});
    passed(list, instruction,
           after.frontier(graph_, lists_[list].device, {lists_.tape(list)[instruction].op}));
  }
}

const Frontier& ListEvents::at(ListId list, Moment moment) const {
  const OfList& of = of_[list.index()];
  if (moment.kind == MomentKind::Ended)
    return of.ended[moment.instruction];
  ORRERY_CHECK(moment.kind == MomentKind::Passed && moment.instruction < of.next,
               "a cause has happened before what it causes");
  return of.reached[moment.instruction];
}

}  // namespace orrery::cuda
