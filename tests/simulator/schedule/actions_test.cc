// Compares the actions of every form of a step with a second statement: the instruction set of
// MSCCL, as the literature describes it.

#include "simulator/schedule/actions.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "simulator/schedule/schedule.h"
#include "simulator/schedule/stored_schedule.h"

namespace orrery::test {
namespace {

std::string text(Half half, StepForm form) {
  std::string result;
  for (const Action& action : actions(form, half)) {
    static constexpr std::string_view kNames[] = {"take", "read",   "combine", "store",
                                                  "hold", "recall", "emit",    "free"};
    static constexpr std::string_view kSlices[] = {"", " source", " target"};
    result += result.empty() ? "" : ", ";
    result += kNames[static_cast<size_t>(action.kind)];
    result += kSlices[static_cast<size_t>(action.slice)];
  }
  return result;
}

struct Case {
  std::string_view name;
  StepForm form;  // from, to, source, target, combine
  std::string_view receive;
  std::string_view send;
};

TEST_CASE("actions: those of MSCCL's instructions") {
  const std::vector<Case> cases = {
      {"nop", {}, "", ""},
      {"s", {false, true, true, false, false}, "", "read source, emit"},
      {"r", {true, false, false, true, false}, "take, store target, free", ""},
      {"rcs", {true, true, false, true, false}, "take, store target, free", "read target, emit"},
      {"rrc", {true, false, true, true, true}, "take, combine source, store target, free", ""},
      {"rrs", {true, true, true, false, true}, "take, combine source, hold", "recall, emit, free"},
      {"rrcs",
       {true, true, true, true, true},
       "take, combine source, store target, free",
       "read target, emit"},
      {"re", {false, false, true, true, true}, "read target, combine source, store target", ""},
      {"cpy", {false, false, true, true, false}, "read source, store target", ""},
      {"forward", {true, true, false, false, false}, "take, hold", "recall, emit, free"},
  };
  for (const Case& of : cases) {
    CAPTURE(of.name);
    CHECK(text(Half::Receive, of.form) == of.receive);
    CHECK(text(Half::Send, of.form) == of.send);
  }
}

/// Returns all 32 forms.
std::vector<StepForm> forms() {
  std::vector<StepForm> all;
  for (uint32_t bits = 0; bits < 32; ++bits)
    all.push_back({(bits & 1U) != 0, (bits & 2U) != 0, (bits & 4U) != 0, (bits & 8U) != 0,
                   (bits & 16U) != 0});
  return all;
}

TEST_CASE("actions: every form takes and frees its message once, and sends its message once") {
  for (const StepForm& form : forms()) {
    uint32_t takes = 0;
    uint32_t frees = 0;
    uint32_t emits = 0;
    uint32_t holds = 0;
    uint32_t recalls = 0;
    for (const Half half : {Half::Receive, Half::Send}) {
      for (const Action& action : actions(form, half)) {
        takes += action.kind == ActionKind::Take ? 1 : 0;
        frees += action.kind == ActionKind::Free ? 1 : 0;
        emits += action.kind == ActionKind::Emit ? 1 : 0;
        holds += action.kind == ActionKind::Hold ? 1 : 0;
        recalls += action.kind == ActionKind::Recall ? 1 : 0;
        if (action.kind == ActionKind::Free)
          CHECK(half == frees_slot_in(form));
      }
    }
    CHECK(takes == (form.from ? 1U : 0U));
    CHECK(frees == takes);
    CHECK(emits == (form.to ? 1U : 0U));
    CHECK(holds == recalls);
  }
}

TEST_CASE("actions: a half moves data where an action touches a payload") {
  for (const StepForm& form : forms())
    for (const Half half : {Half::Receive, Half::Send})
      CHECK(moves_data(form, half) == (actions(form, half).count > 0));
}

TEST_CASE("actions: which halves take time") {
  const auto work = [](StepForm form, Half half) {
    const TimedActions of = timed_actions(form, half);
    return std::string(of.combines ? "combines " : "") + (of.holds ? "holds " : "") +
           (of.copies ? "copies " : "") + (of.stores ? "stores " : "") +
           (of.forwards ? "forwards " : "") + (of.sends ? "sends" : "");
  };
  CHECK(work({true, true, true, true, true}, Half::Receive) == "combines ");
  CHECK(work({true, true, true, true, true}, Half::Send) == "sends");
  CHECK(work({false, false, true, true, false}, Half::Receive) == "copies ");
  CHECK(work({false, false, true, true, true}, Half::Receive) == "combines ");
  CHECK(work({true, true, true, false, true}, Half::Receive) == "combines holds ");
  CHECK(work({true, true, false, false, false}, Half::Receive).empty());  // holds a message
  CHECK(work({true, false, false, true, false}, Half::Receive) == "stores ");
  CHECK(work({true, true, false, true, false}, Half::Receive) == "forwards ");
}

TEST_CASE("actions: a packed step unpacks to the same") {
  Step step;
  CHECK(unpack(pack(step), Node(3)).form().to == false);
  step.from = Node(1);
  step.to = Node(0);
  step.source = Slice{Area::Scratch, 5, 7};
  step.target = Slice{Area::Output, 0, 7};
  step.combine = Combine::Max;
  step.after = StepRef{Node(3), Channel(2), 9};
  const Step again = unpack(pack(step), Node(3));
  CHECK(again.from == step.from);
  CHECK(again.to == step.to);
  CHECK(again.source == step.source);
  CHECK(again.target == step.target);
  CHECK(again.combine == step.combine);
  CHECK(again.after == step.after);
  for (const Half half : {Half::Receive, Half::Send})
    CHECK(text(half, pack(step).form()) == text(half, step.form()));
  static_assert(sizeof(PackedStep) == 56);
}

}  // namespace
}  // namespace orrery::test
