// Tests random mpmd_maps: the verdicts against a search over all interleavings, and the values
// against runs in random orders. The search knows the text of a map alone: it shares no code with
// the checks.

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/array/text.h"
#include "models/base/random.h"
#include "models/scenario/reader.h"
#include "models/scenario/writer.h"
#include "tests/support/tries.h"
#include "verifier/run.h"

namespace orrery::test {
namespace {

constexpr int64_t kRows = 4;  // of each shared ref; a row has two elements
constexpr int64_t kRow = 2;

/// A ref, or a row of it: of an axis, or a number.
struct Use {
  std::string ref;
  std::string axis = {};
  std::optional<int64_t> row = {};

  std::string text() const {
    if (axis.empty() && !row)
      return '"' + ref + '"';
    return fmt::format(R"(["{}", {{"row": {}}}])", ref,
                       row ? std::to_string(*row) : '"' + axis + '"');
  }
};

struct BodyOp {
  std::string word;
  std::vector<Use> of;
  Use to = {};
  int64_t amount = 1;

  std::string text() const {
    if (word == "signal" || word == "wait")
      return fmt::format(R"({{"op": "{}", "sem": {}, "{}": {}}})", word, of[0].text(),
                         word == "signal" ? "by" : "for", amount);
    if (word == "copy")
      return fmt::format(R"({{"op": "copy", "from": {}, "to": {}}})", of[0].text(), to.text());
    std::vector<std::string> operands;
    for (const Use& use : of)
      operands.push_back(use.text());
    return fmt::format(R"({{"op": "{}", "of": [{}], "to": {}}})", word, fmt::join(operands, ", "),
                       to.text());
  }
};

struct Function {
  std::string type;
  std::string name;
  std::vector<std::pair<std::string, int64_t>> axes;
  std::vector<BodyOp> body = {};

  int64_t instances() const {
    int64_t count = 1;
    for (const auto& [axis, size] : axes)
      count *= size;
    return count;
  }

  std::string text() const {
    std::string mesh = fmt::format(R"("type": "{}", "name": "{}", "core_axis": "{}", "cores": {})",
                                   type, name, axes[0].first, axes[0].second);
    if (axes.size() > 1)
      mesh +=
          fmt::format(R"(, "subcore_axis": "{}", "subcores": {})", axes[1].first, axes[1].second);
    std::vector<std::string> ops;
    for (const BodyOp& op : body)
      ops.push_back(op.text());
    return fmt::format(R"({{"mesh": {{{}}}, "body": [{}]}})", mesh, fmt::join(ops, ",\n  "));
  }
};

struct Map {
  std::vector<Function> functions;
  bool alias = false;  // out0 has the memory of in0

  std::string scenario() const {
    std::vector<std::string> all;
    std::string scratch;
    for (const Function& each : functions) {
      all.push_back(each.text());
      scratch +=
          fmt::format(R"("t{}": {{"shape": [2], "dtype": "s32", "space": "vmem", "core": "{}"}}, )",
                      each.name, each.name);
    }
    return fmt::format(
        R"({{"orrery": 1, "cluster": {{"devices": 1, "topology": "ring", "memory_bandwidth": "1 TB/s"}},
 "mesh": {{"x": 1}},
 "arrays": {{"a": {{"shape": [4, 2], "dtype": "s32", "init": "iota"}},
            "c": {{"shape": [4, 2], "dtype": "s32", "init": 100}}}},
 "program": [{{"id": "m", "op": "mpmd_map", "of": ["a", "c"],
  "out": [{{"shape": [4, 2], "dtype": "s32"}}], {}
  "scratch": {{{}"b": {{"shape": [4, 2], "dtype": "s32", "space": "hbm"}},
              "s": {{"semaphore": true, "shape": [4]}}}},
  "functions": [{}]}}],
 "outputs": ["m"]}})",
        alias ? R"("aliases": {"0": 0},)" : "", scratch, fmt::join(all, ",\n "));
  }
};

/// Runs a map by its text, in any order.
class Interleavings {
 public:
  explicit Interleavings(const Map& map) : map_(map) {
    for (size_t f = 0; f < map.functions.size(); ++f)
      for (int64_t i = 0; i < map.functions[f].instances(); ++i)
        instances_.emplace_back(f, i);
  }

  size_t instances() const { return instances_.size(); }
  size_t ops() const {
    size_t count = 0;
    for (const auto& [f, i] : instances_)
      count += map_.functions[f].body.size();
    return count;
  }

  /// Returns whether several instances wait on one counter.
  bool is_contested() const {
    std::map<int64_t, std::set<size_t>> waiters;
    for (size_t i = 0; i < instances_.size(); ++i)
      for (const BodyOp& op : body(i))
        if (op.word == "wait")
          waiters[place(op.of[0], i).begin].insert(i);
    return std::any_of(waiters.begin(), waiters.end(),
                       [](const auto& each) { return each.second.size() > 1; });
  }

  struct Verdicts {
    bool hangs = false;
    bool races = false;
  };
  /// Goes through all states. Two accesses race if both may come next in some state.
  Verdicts search() const {
    Verdicts verdicts;
    std::set<std::vector<size_t>> seen;
    std::vector<std::vector<size_t>> open = {std::vector<size_t>(instances_.size(), 0)};
    while (!open.empty()) {
      const std::vector<size_t> state = open.back();
      open.pop_back();
      if (!seen.insert(state).second)
        continue;
      std::vector<size_t> next;
      bool at_end = true;
      for (size_t i = 0; i < instances_.size(); ++i) {
        at_end = at_end && state[i] == body(i).size();
        if (can_go(state, i))
          next.push_back(i);
      }
      verdicts.hangs = verdicts.hangs || (next.empty() && !at_end);
      for (const size_t i : next) {
        for (const size_t j : next)
          verdicts.races = verdicts.races || (i < j && conflict(state, i, j));
        std::vector<size_t> after = state;
        ++after[i];
        open.push_back(std::move(after));
      }
    }
    return verdicts;
  }

  /// Returns the result of a run in an order drawn with this seed. Requires a map that ends.
  std::vector<int64_t> run(uint64_t seed) const {
    Random random(seed);
    std::map<std::string, std::vector<int64_t>> memory;
    for (int64_t e = 0; e < kRows * kRow; ++e) {
      memory["in0"].push_back(e);
      memory["in1"].push_back(100);
    }
    std::vector<size_t> state(instances_.size(), 0);
    for (;;) {
      std::vector<size_t> next;
      for (size_t i = 0; i < instances_.size(); ++i)
        if (can_go(state, i))
          next.push_back(i);
      if (next.empty())
        break;
      const size_t i = next[random.below(next.size())];
      carry_out(body(i)[state[i]], i, memory);
      ++state[i];
    }
    return elements(memory, {map_.alias ? "in0" : "out0", 0, kRows * kRow});
  }

 private:
  struct Place {
    std::string memory;
    int64_t begin = 0;
    int64_t count = 0;
  };

  const std::vector<BodyOp>& body(size_t i) const {
    return map_.functions[instances_[i].first].body;
  }

  Place place(const Use& use, size_t i) const {
    const auto& [f, number] = instances_[i];
    int64_t row = use.row.value_or(0);
    int64_t rest = number;
    const auto& axes = map_.functions[f].axes;
    for (size_t a = axes.size(); a-- > 0; rest /= axes[a].second)
      if (axes[a].first == use.axis)
        row = rest % axes[a].second;
    if (use.ref == "s")
      return {"s", row, 1};
    if (use.ref.starts_with("t"))
      return {fmt::format("{} {}", use.ref, i), 0, kRow};
    const std::string memory = map_.alias && use.ref == "out0" ? "in0" : use.ref;
    const bool whole = use.axis.empty() && !use.row;
    return {memory, whole ? 0 : row * kRow, whole ? kRows * kRow : kRow};
  }

  int64_t count(const std::vector<size_t>& state, int64_t counter) const {
    int64_t sum = 0;
    for (size_t i = 0; i < instances_.size(); ++i)
      for (size_t p = 0; p < state[i]; ++p) {
        const BodyOp& op = body(i)[p];
        if ((op.word == "signal" || op.word == "wait") && place(op.of[0], i).begin == counter)
          sum += op.word == "signal" ? op.amount : -op.amount;
      }
    return sum;
  }

  bool can_go(const std::vector<size_t>& state, size_t i) const {
    if (state[i] == body(i).size())
      return false;
    const BodyOp& op = body(i)[state[i]];
    return op.word != "wait" || count(state, place(op.of[0], i).begin) >= op.amount;
  }

  static bool meet(const Place& a, const Place& b) {
    return a.memory == b.memory && a.begin < b.begin + b.count && b.begin < a.begin + a.count;
  }

  bool conflict(const std::vector<size_t>& state, size_t i, size_t j) const {
    const BodyOp& a = body(i)[state[i]];
    const BodyOp& b = body(j)[state[j]];
    if (a.to.ref.empty() || b.to.ref.empty())
      return false;
    const auto reads = [&](const BodyOp& op, size_t of, const Place& written) {
      return std::any_of(op.of.begin(), op.of.end(),
                         [&](const Use& use) { return meet(place(use, of), written); });
    };
    const Place to_a = place(a.to, i);
    const Place to_b = place(b.to, j);
    return meet(to_a, to_b) || reads(a, i, to_b) || reads(b, j, to_a);
  }

  static std::vector<int64_t> elements(std::map<std::string, std::vector<int64_t>>& memory,
                                       const Place& at) {
    std::vector<int64_t>& all = memory[at.memory];
    all.resize(static_cast<size_t>(
        std::max<int64_t>(static_cast<int64_t>(all.size()), at.begin + at.count)));
    return {all.begin() + at.begin, all.begin() + at.begin + at.count};
  }

  void carry_out(const BodyOp& op, size_t i,
                 std::map<std::string, std::vector<int64_t>>& memory) const {
    if (op.to.ref.empty())
      return;
    std::vector<int64_t> result = elements(memory, place(op.of[0], i));
    if (op.word == "add") {
      const std::vector<int64_t> other = elements(memory, place(op.of[1], i));
      for (size_t e = 0; e < result.size(); ++e)
        result[e] += other[e];
    }
    const Place to = place(op.to, i);
    elements(memory, to);
    std::copy(result.begin(), result.end(), memory[to.memory].begin() + to.begin);
  }

  const Map& map_;
  std::vector<std::pair<size_t, int64_t>> instances_;  // function and number
};

/// Draws maps of one or two functions: there is no third one that goes with a scalar and a vector
/// mesh.
class Maps {
 public:
  explicit Maps(uint64_t seed) : random_(seed) {}

  Map any(size_t most_instances, size_t most_ops) {
    for (;;) {
      Map map;
      map.functions = functions();
      map.alias = random_.below(4) == 0;
      size_t instances = 0;
      for (const Function& each : map.functions)
        instances += static_cast<size_t>(each.instances());
      if (instances > most_instances)
        continue;
      for (Function& each : map.functions)
        for (size_t n = random_.below(4) + 1; n-- > 0;)
          add_ops(map, each);
      if (Interleavings(map).ops() <= most_ops)
        return map;
    }
  }

 private:
  std::vector<Function> functions() {
    const int64_t cores = random_.between(1, 2);
    const int64_t subcores = random_.between(1, 2);
    switch (random_.below(5)) {
      case 0:
        return {{"tensor", "w", {{"c", random_.between(1, 4)}}}};
      case 1:
        return {{"vector", "v", {{"c", cores}, {"u", subcores}}}};
      default:
        return {{"scalar", "z", {{"c", cores}}}, {"vector", "v", {{"c", cores}, {"u", subcores}}}};
    }
  }

  Use row_of(const std::string& ref, const Function& function) {
    const auto& axes = function.axes;
    const size_t which = random_.below(axes.size() + 1);
    return which < axes.size() && random_.below(8) != 0 ? Use{ref, axes[which].first}
                                                        : Use{ref, "", random_.between(0, 1)};
  }

  Use any_row(const Map& map, const Function& function, bool writes) {
    switch (random_.below(writes ? 3 : 4)) {
      case 0:
        return {"t" + function.name};
      case 1:
        return row_of("b", function);
      case 2:
        return row_of("out0", function);
      default:
        return row_of(random_.below(2) == 0 || map.alias ? "in0" : "in1", function);
    }
  }

  void add_ops(const Map& map, Function& function) {
    std::vector<BodyOp>& body = function.body;
    switch (random_.below(7)) {
      case 0:
        body.push_back({"wait", {row_of("s", function)}, {}, random_.between(1, 2)});
        break;
      case 1:
      case 2:
        body.push_back({"signal", {row_of("s", function)}, {}, random_.between(1, 2)});
        break;
      case 3:
        body.push_back({"copy",
                        {{random_.below(2) == 0 ? "in1" : "b"}},
                        {random_.below(2) == 0 ? "out0" : "b"}});
        break;
      case 4:
        body.push_back({"add",
                        {any_row(map, function, false), any_row(map, function, false)},
                        any_row(map, function, true)});
        break;
      default:
        body.push_back({"copy", {any_row(map, function, false)}, any_row(map, function, true)});
    }
  }

  Random random_;
};

const Check* check_named(const Report& report, std::string_view name) {
  for (const Check& check : report.checks)
    if (check.name == name)
      return &check;
  return nullptr;
}

bool fails(const Report& report, std::string_view name) {
  const Check* const check = check_named(report, name);
  return check != nullptr && check->verdict == Verdict::Fails;
}

std::vector<int64_t> result_of(const Report& report) {
  const Tensor& tensor =
      report.values->at(report.scenario->program.outputs[0], LogicalId(0)).value();
  std::vector<int64_t> elements;
  for (int64_t e = 0; e < tensor.elements(); ++e)
    elements.push_back(std::stoll(element_text(tensor, e)));
  return elements;
}

TEST_CASE("cores: verdicts of random maps are those of a search over all interleavings") {
  size_t hold = 0;
  size_t hang = 0;
  size_t race = 0;
  const uint64_t maps = tries(5'000);
  for (uint64_t seed = 0; seed < maps; ++seed) {
    CAPTURE(seed);
    const Map map = Maps(seed).any(4, 12);
    const std::string text = map.scenario();
    CAPTURE(text);
    const Interleavings all(map);
    const Interleavings::Verdicts expected = all.search();
    const Report report = run(read_scenario("f", text), {});
    CHECK(fails(report, "DEADLOCK.FREE") == expected.hangs);
    CHECK(fails(report, "RACE.FREE") == (expected.races || all.is_contested()));
    hang += expected.hangs ? 1 : 0;
    race += expected.races ? 1 : 0;
    if (expected.hangs || expected.races || all.is_contested())
      continue;
    ++hold;
    const std::vector<int64_t> values = result_of(report);
    for (uint64_t order = 0; order < 20; ++order)
      CHECK(values == all.run(order));
    CHECK(result_of(run(read_scenario("f", write_scenario(*report.scenario)), {})) == values);
  }
  // The maps are of all kinds.
  CHECK(hold > maps / 20);
  CHECK(hang > maps / 20);
  CHECK(race > maps / 20);
}

TEST_CASE("cores: larger random maps without races have the values of any order") {
  size_t hold = 0;
  const uint64_t maps = tries(2'500);
  for (uint64_t seed = 0; seed < maps; ++seed) {
    CAPTURE(seed);
    const Map map = Maps(seed + 1'000'000).any(8, 40);
    const std::string text = map.scenario();
    CAPTURE(text);
    const Report report = run(read_scenario("f", text), {});
    if (!report.holds())
      continue;
    ++hold;
    const Interleavings all(map);
    const std::vector<int64_t> values = result_of(report);
    for (uint64_t order = 0; order < 20; ++order)
      CHECK(values == all.run(order));
  }
  CHECK(hold > 0);
}

/// Each scalar core c doubles row c of "a" into the scratch "b" and signals; the vector core of
/// that number waits, and copies the row to the output.
Map relay(int64_t cores) {
  const Use row = {"b", "c"};
  const Use sem = {"s", "c"};
  Function scalar = {"scalar", "z", {{"c", cores}}};
  scalar.body = {{"add", {{"in0", "c"}, {"in0", "c"}}, row}, {"signal", {sem}}};
  Function vector = {"vector", "v", {{"c", cores}, {"u", 1}}};
  vector.body = {{"wait", {sem}}, {"copy", {row}, {"out0", "c"}}};
  return {{scalar, vector}};
}

TEST_CASE("cores: planted faults are found, and named") {
  for (const int64_t cores : {1, 2, 3, 4}) {
    CAPTURE(cores);
    const Map right = relay(cores);
    CHECK(run(read_scenario("f", right.scenario()), {}).holds());
    const auto said = [](const Map& map, std::string_view check) -> std::string {
      const Report report = run(read_scenario("f", map.scenario()), {});
      const Check* const found = check_named(report, check);
      return found == nullptr || found->verdict != Verdict::Fails ? "" : found->message;
    };
    {  // The signal comes before what it is to order.
      Map map = right;
      std::swap(map.functions[0].body[0], map.functions[0].body[1]);
      CHECK(
          said(map, "RACE.FREE") ==
          "In \"m\", the write at functions/0/body/1 of z (c=0) and the read at functions/1/body/1 "
          "of v (c=0, u=0) touch elements 0 to 1 of \"b\", and nothing orders the two. A signal "
          "that z (c=0) gives after functions/0/body/1, and that v (c=0, u=0) waits for before "
          "functions/1/body/1, would.");
    }
    {  // The signal is missing.
      Map map = right;
      map.functions[0].body.pop_back();
      CHECK(said(map, "DEADLOCK.FREE") ==
            "In \"m\", v (c=0, u=0) waits at functions/1/body/0 for 1 of \"s[0]\", which has 0; "
            "nobody signals it any more.");
    }
    {  // The wait is missing.
      Map map = right;
      map.functions[1].body.erase(map.functions[1].body.begin());
      CHECK(said(map, "RACE.FREE").find("\"b\", and nothing orders the two") != std::string::npos);
    }
    {  // Two wait in a circle.
      Map map = right;
      map.functions[0].body.insert(map.functions[0].body.begin(), {"wait", {{"s", "", 3}}});
      map.functions[1].body.push_back({"signal", {{"s", "", 3}}});
      if (cores == 1)
        CHECK(
            said(map, "DEADLOCK.FREE") ==
            "In \"m\", z (c=0) waits at functions/0/body/0 for 1 of \"s[3]\", which has 0; v (c=0, "
            "u=0) at functions/1/body/2 would signal it, but that is not reached.");
    }
    {  // Another instance waits for the same semaphore.
      Map map = right;
      map.functions[0].body.push_back({"wait", {{"s", "c"}}});
      map.functions[0].body.push_back({"signal", {{"s", "c"}}});
      CHECK(said(map, "RACE.FREE") ==
            "In \"m\", wait at functions/0/body/2 of z (c=0) and wait at functions/1/body/0 of v "
            "(c=0, u=0) both wait for \"s[0]\": who gets a signal depends on timing. Each needs a "
            "semaphore of its own.");
    }
    {  // An alias lets all instances write one row of the input.
      Map map = right;
      map.alias = true;
      map.functions[1].body[1].to = {"out0", "", 0};
      const std::string message = said(map, "RACE.FREE");
      if (cores == 1)
        CHECK(message == "");  // the read of in0 comes before the signal
      else
        CHECK(
            message.find(" of \"out0\", and nothing orders the two. Both run the body of \"v\"") !=
            std::string::npos);
    }
    {  // An alias lets a write meet a read of the input.
      Map map = right;
      map.alias = true;
      std::swap(map.functions[0].body[0], map.functions[0].body[1]);
      CHECK(said(map, "RACE.FREE")
                .find("the write at functions/1/body/1 of v (c=0, u=0) and the read at "
                      "functions/0/body/1 of z (c=0) touch elements 0 to 1 of \"out0\", which is "
                      "\"in0\" too, and nothing orders the two. A signal that") !=
            std::string::npos);
    }
  }
}

}  // namespace
}  // namespace orrery::test
