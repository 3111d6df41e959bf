// Tests groups of psends and precvs. Their messages begin together, so the verdict must be that of
// a search in which no rendezvous begins before all that it is connected with have come. The values
// are those of the parts, and the times those of messages that go at the same time.

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/random.h"
#include "models/scenario/reader.h"
#include "models/scenario/writer.h"
#include "tests/support/tries.h"
#include "verifier/check/names.h"
#include "verifier/run.h"

namespace orrery::test {
namespace {

const Check& check_of(const Report& report, CheckKind kind) {
  const auto found = std::ranges::find(report.checks, std::string(info(kind).name), &Check::name);
  REQUIRE(found != report.checks.end());
  return *found;
}

std::string scenario(uint32_t devices, const std::string& programs, const std::string& more = "") {
  return fmt::format(R"({{"orrery": 1, "mesh": {{"x": {0}}}, "check_types": false,
    "cluster": {{"devices": {0}, "topology": "switch", "bandwidth": "50 GB/s", "latency": "1 us",
                 "memory_bandwidth": "1 TB/s", "flops": {{"s32": "1 TFLOP/s"}}}},
    "arrays": {{"a": {{"shape": [{1}], "dtype": "s32", "spec": ["x"], "init": "iota"}}}},
    {2}{3}}})",
                     devices, 2 * devices, programs, more);
}

std::string of_programs(const std::vector<std::string>& lists) {
  std::vector<std::string> programs;
  for (size_t d = 0; d < lists.size(); ++d)
    programs.push_back(
        fmt::format(R"({{"name": "p{0}", "on": {{"x": {0}}}, "do": [{1}]}})", d, lists[d]));
  return fmt::format(R"("programs": [{}])", fmt::join(programs, ",\n"));
}

/// A message, and one end of it on a device.
struct Message {
  uint32_t from = 0;
  uint32_t to = 0;
  bool rendezvous = false;
};
struct End {
  uint32_t message = 0;
  bool sends = false;
  friend auto operator<=>(const End&, const End&) = default;
};

/// Each device has a list of items: a group of ends, or one end alone.
struct Exchanges {
  std::vector<Message> messages;
  std::vector<std::vector<std::vector<End>>> items;  // per device
  std::vector<std::vector<bool>> grouped;            // per device and item
};

Exchanges random_exchanges(Random& random) {
  Exchanges made;
  const auto devices = static_cast<uint32_t>(2 + random.below(2));
  const auto count = static_cast<uint32_t>(1 + random.below(4));
  std::vector<std::vector<End>> ends(devices);
  for (uint32_t m = 0; m < count; ++m) {
    const auto from = static_cast<uint32_t>(random.below(devices));
    const auto to = static_cast<uint32_t>((from + 1 + random.below(devices - 1)) % devices);
    made.messages.push_back({from, to, random.below(3) != 0});
    ends[from].push_back({m, true});
    ends[to].push_back({m, false});
  }
  for (std::vector<End>& list : ends) {
    for (size_t i = list.size(); random.below(2) == 0 && i > 1; --i)
      std::swap(list[i - 1], list[random.below(i)]);
    std::vector<std::vector<End>> items;
    for (const End& end : list)
      if (!items.empty() && random.below(2) == 0)
        items.back().push_back(end);
      else
        items.push_back({end});
    std::vector<bool> grouped;
    for (const std::vector<End>& item : items)
      grouped.push_back(item.size() > 1 || random.below(2) == 0);
    made.items.push_back(std::move(items));
    made.grouped.push_back(std::move(grouped));
  }
  return made;
}

/// Searches all orders of events: a device comes to its next item, or ends begin. An eager end
/// begins when its device is there. A rendezvous begins together with the other end of its message
/// and with all rendezvous of the items of both, and so on. An item is over when all its ends have
/// begun and, of an eager receive, the message has been sent.
class OrderSearch {
 public:
  OrderSearch(const Exchanges& given, bool all_rendezvous) : given_(given), all_(all_rendezvous) {}

  bool always_ends() { return ends_from({std::vector<size_t>(given_.items.size(), 0), {}}); }

 private:
  struct State {
    std::vector<size_t> at;  // per device: its item
    std::set<End> begun;
    friend auto operator<=>(const State&, const State&) = default;
  };

  bool waits(const End& end) const { return all_ || given_.messages[end.message].rendezvous; }
  uint32_t device(const End& end) const {
    const Message& message = given_.messages[end.message];
    return end.sends ? message.from : message.to;
  }
  size_t item(const End& end) const {
    const auto& items = given_.items[device(end)];
    size_t i = 0;
    while (std::ranges::find(items[i], end) == items[i].end())
      ++i;
    return i;
  }
  std::set<End> together(const End& first) const {
    std::set<End> all = {first};
    std::vector<End> open = {first};
    while (!open.empty()) {
      const End end = open.back();
      open.pop_back();
      std::vector<End> next = given_.items[device(end)][item(end)];
      next.push_back({end.message, !end.sends});
      for (const End& each : next)
        if (waits(each) && all.insert(each).second)
          open.push_back(each);
    }
    return all;
  }
  bool is_there(const State& state, const End& end) const {
    return state.at[device(end)] == item(end);
  }
  bool is_over(const State& state, const std::vector<End>& item) const {
    return std::ranges::all_of(item, [&](const End& end) {
      return state.begun.contains(end) &&
             (end.sends || waits(end) || state.begun.contains({end.message, true}));
    });
  }

  bool ends_from(const State& state) {
    if (!seen_.insert(state).second)
      return true;
    bool any = false;
    const auto go = [&](const State& next) {
      any = true;
      return ends_from(next);
    };
    for (uint32_t d = 0; d < state.at.size(); ++d) {
      if (state.at[d] == given_.items[d].size())
        continue;
      const std::vector<End>& item = given_.items[d][state.at[d]];
      if (is_over(state, item)) {
        State next = state;
        ++next.at[d];
        if (!go(next))
          return false;
      }
      for (const End& end : item) {
        if (state.begun.contains(end))
          continue;
        const std::set<End> all = waits(end) ? together(end) : std::set<End>{end};
        if (!std::ranges::all_of(all, [&](const End& each) { return is_there(state, each); }))
          continue;
        State next = state;
        next.begun.insert(all.begin(), all.end());
        if (!go(next))
          return false;
      }
    }
    if (any)
      return true;
    for (uint32_t d = 0; d < state.at.size(); ++d)
      if (state.at[d] < given_.items[d].size())
        return false;
    return true;
  }

  const Exchanges& given_;
  const bool all_;
  std::set<State> seen_;
};

std::string text_of(const Exchanges& given) {
  std::vector<std::string> lists;
  for (size_t d = 0; d < given.items.size(); ++d) {
    std::vector<std::string> ops;
    for (size_t i = 0; i < given.items[d].size(); ++i) {
      std::vector<std::string> parts;
      for (const End& end : given.items[d][i]) {
        const Message& message = given.messages[end.message];
        const std::string pair =
            fmt::format(R"("axis_name": "x", "perm": [[{}, {}]], "site": "m{}")", message.from,
                        message.to, end.message);
        parts.push_back(
            end.sends
                ? fmt::format(R"({{"id": "s{}", "op": "psend", "of": "a", {}{}}})", end.message,
                              pair, message.rendezvous ? R"(, "entry": "rendezvous")" : "")
                : fmt::format(R"({{"id": "r{}", "op": "precv", "shape": [2], "dtype": "s32", {}}})",
                              end.message, pair));
      }
      ops.push_back(given.grouped[d][i]
                        ? fmt::format(R"({{"id": "g{}_{}", "op": "group", "do": [{}]}})", d, i,
                                      fmt::join(parts, ", "))
                        : parts.front());
    }
    lists.push_back(fmt::format("{}", fmt::join(ops, ",\n")));
  }
  return scenario(static_cast<uint32_t>(given.items.size()), of_programs(lists));
}

TEST_CASE("groups: the verdicts are those of a search over all orders") {
  Random random(20261127);
  size_t hang = 0;
  size_t only_buffered = 0;
  const size_t programs = tries(3000);
  for (size_t i = 0; i < programs; ++i) {
    const Exchanges exchanges = random_exchanges(random);
    const std::string text = text_of(exchanges);
    CAPTURE(text);
    const Report report = run(read_scenario("f", text), RunOptions());
    const bool ends = OrderSearch(exchanges, false).always_ends();
    const bool ends_unbuffered = OrderSearch(exchanges, true).always_ends();
    REQUIRE(check_of(report, CheckKind::DeadlockFree).holds() == ends);
    REQUIRE(report.completion.has_value() == ends);
    REQUIRE(check_of(report, CheckKind::SendsUnbuffered).holds() == ends_unbuffered);
    hang += ends ? 0 : 1;
    only_buffered += ends && !ends_unbuffered ? 1 : 0;
    const std::string written = write_scenario(read_scenario("f", text));
    REQUIRE(write_scenario(read_scenario("f", written)) == written);
    REQUIRE(written.find("\"stream\"") == written.npos);
  }
  MESSAGE("of " << programs << " programs, " << hang << " hang, " << only_buffered
                << " end only by buffering");
  CHECK(hang > programs / 10);
  CHECK(only_buffered > programs / 30);
}

/// A skip connection, as in pytorch/PiPPy issue 969: stage 0 sends to 1 and 2 in one batch, and
/// stage 2 receives from both in one batch.
std::string skip_connection(const std::string& entry, bool middle_in_groups) {
  const auto hop = [&](const std::string& id, const std::string& op, const std::string& of,
                       int from, int to) {
    return fmt::format(
        R"({{"id": "{0}{1}{2}", "op": "{3}", {4}, "axis_name": "x",
                            "perm": [[{1}, {2}]], "site": "{1}to{2}"{5}}})",
        id, from, to, op,
        op == "psend" ? fmt::format(R"("of": "{}")", of) : R"("shape": [2], "dtype": "s32")",
        op == "psend" ? entry : "");
  };
  const auto group = [](const std::string& id, const std::string& parts) {
    return fmt::format(R"({{"id": "{}", "op": "group", "do": [{}]}})", id, parts);
  };
  const std::string receive = hop("r", "precv", "", 0, 1);
  const std::string send = hop("s", "psend", "y", 1, 2);
  return scenario(
      3, of_programs(
             {group("first", hop("s", "psend", "a", 0, 1) + "," + hop("s", "psend", "a", 0, 2)),
              (middle_in_groups ? group("in", receive) : receive) +
                  R"(, {"id": "y", "op": "add", "of": ["r01", "r01"]}, )" +
                  (middle_in_groups ? group("out", send) : send),
              group("last", hop("r", "precv", "", 0, 2) + "," + hop("r", "precv", "", 1, 2))}));
}

TEST_CASE("groups: a skip connection in batches hangs") {
  for (const bool middle_in_groups : {false, true}) {
    const Report report =
        run(read_scenario("f", skip_connection(R"(, "entry": "rendezvous")", middle_in_groups)),
            RunOptions());
    const Check& check = check_of(report, CheckKind::DeadlockFree);
    CHECK_FALSE(check.holds());
    CHECK(check.message ==
          "The program cannot end: devices wait for each other, in a cycle of 3. "
          "The messages of a group begin together.");
    CHECK(check.witness ==
          Witness{
              {"device 0", "waits in \"s02\" for device 2, whose group \"last\" has not begun"},
              {"device 2",
               "waits in \"r12\" for device 1 to enter \"s12\", which \"p1\" issues "
               "after \"r01\""},
              {"device 1", "waits in \"r01\" for device 0, whose group \"first\" has not begun"}});
    CHECK_FALSE(report.completion.has_value());
  }
}

TEST_CASE("groups: a skip connection of eager sends is safe only by buffering") {
  const Report report = run(read_scenario("f", skip_connection("", true)), RunOptions());
  CHECK(check_of(report, CheckKind::DeadlockFree).holds());
  const Check& check = check_of(report, CheckKind::SendsUnbuffered);
  CHECK_FALSE(check.holds());
  CHECK(check.message.find("1 message under way") != std::string::npos);
}

/// The two ends of an exchange in one program; the token leads from the one to the other.
std::string ends(const std::string& id, const std::string& perm) {
  return fmt::format(
      R"({{"id": "{0}sent", "op": "psend", "of": "h", "axis_name": "x", "perm": {1},
           "entry": "rendezvous"}},
         {{"id": "{0}got", "op": "precv", "of": "{0}sent", "shape": [2], "dtype": "s32",
           "axis_name": "x", "perm": {1}}})",
      id, perm);
}

/// On a line of three devices with links both ways.
std::string halo_exchange(const std::string& parts, const std::string& more) {
  return fmt::format(R"({{"orrery": 1, "mesh": {{"x": 3}}, "check_types": false,
    "cluster": {{"devices": 3, "topology": "ring", "bandwidth": "50 GB/s", "latency": "1 us"}},
    "arrays": {{"h": {{"shape": [6], "dtype": "s32", "spec": ["x"], "init": "iota"}}}},
    "program": [{{"id": "g", "op": "group", "do": [{0}]}}{1} }})",
                     parts, more);
}

const std::string kRight = "[[0, 1], [1, 2]]";
const std::string kLeft = "[[2, 1], [1, 0]]";

TEST_CASE("groups: a halo exchange of rendezvous ends, and has ppermute's values") {
  const Report report =
      run(read_scenario("f", halo_exchange(ends("right", kRight) + "," + ends("left", kLeft),
                                           fmt::format(R"(,
        {{"id": "r", "op": "ppermute", "of": "h", "axis_name": "x", "perm": {}}},
        {{"id": "l", "op": "ppermute", "of": "h", "axis_name": "x", "perm": {}}}],
        "expect": [{{"equal": ["rightgot", "r"]}}, {{"equal": ["leftgot", "l"]}},
                   {{"holds": ["deadlock_free", "proved", "race_free"]}}])",
                                                       kRight, kLeft))),
          RunOptions());
  REQUIRE(report.checks.size() > 3);
  for (const Check& check : report.checks) {
    CAPTURE(check.name);
    CAPTURE(check.message);
    CHECK(check.holds());
  }
}

TEST_CASE("groups: messages on links of their own take the time of one") {
  const auto makespan = [](const std::string& parts) {
    const Report report = run(read_scenario("f", halo_exchange(parts, "]")), RunOptions());
    REQUIRE(report.completion.has_value());
    return report.completion->makespan;
  };
  const Instant one = makespan(ends("right", kRight));
  CHECK(one > Instant());
  CHECK(makespan(ends("right", kRight) + "," + ends("left", kLeft)) == one);
}

/// Returns a psend or precv of one pair or more at a site.
std::string part(const std::string& id, const std::string& op, const std::string& perm,
                 const std::string& site, const std::string& more = "") {
  return fmt::format(
      R"({{"id": "{}", "op": "{}", {}, "axis_name": "x", "perm": {}, "site": "{}"{}}})", id, op,
      op == "psend" ? R"("of": "a")" : R"("shape": [2], "dtype": "s32")", perm, site, more);
}

std::string group(const std::string& id, const std::string& parts) {
  return fmt::format(R"({{"id": "{}", "op": "group", "do": [{}]}})", id, parts);
}

TEST_CASE("groups: the place in a group says nothing of the site") {
  // The middle stage sends at the site at which the first does, and receives before that.
  const std::string hops = "[[0, 1], [1, 2]]";
  const Report report =
      run(read_scenario("f",
                        scenario(3, of_programs({group("g", part("s0", "psend", hops, "hop")),
                                                 group("h", part("r1", "precv", hops, "hop") + "," +
                                                                part("s1", "psend", hops, "hop")),
                                                 part("r2", "precv", hops, "hop")}))),
          RunOptions());
  CHECK(check_of(report, CheckKind::DeadlockFree).holds());
  CHECK(check_of(report, CheckKind::SendsUnbuffered).holds());
}

TEST_CASE("groups: a message is kept only until its receiver enters, which a group may hold") {
  // Device 1 sends 2 and then 1 and 0 together. Device 0 first receives 1 and 2 together, so
  // message 2 is kept until then. It is kept no longer, although its receiver waits for message 1.
  const std::string hop = "[[1, 0]]";
  const Report once =
      run(read_scenario(
              "f",
              scenario(2, of_programs({group("g", part("r1", "precv", hop, "m1") + "," +
                                                      part("r2", "precv", hop, "m2")) +
                                           "," + part("r0", "precv", hop, "m0"),
                                       part("s2", "psend", hop, "m2") + "," +
                                           group("h", part("s1", "psend", hop, "m1",
                                                           R"(, "entry": "rendezvous")") +
                                                          "," + part("s0", "psend", hop, "m0"))}))),
          RunOptions());
  CHECK(check_of(once, CheckKind::SendsUnbuffered)
            .message.find("must be able to have 1 message under way") != std::string::npos);
}

TEST_CASE("groups: a program of several devices, of which some only send or only receive") {
  // The halves meet nobody, so the program cannot end.
  for (const std::string& perm : {std::string("[[0, 1]]"), std::string("[[1, 0]]")}) {
    const Report report =
        run(read_scenario("f", scenario(2, R"("program": [)" +
                                               group("g", part("s", "psend", perm, "p") + "," +
                                                              part("r", "precv", perm, "q")) +
                                               "]")),
            RunOptions());
    CHECK_FALSE(check_of(report, CheckKind::DeadlockFree).holds());
    CHECK_FALSE(check_of(report, CheckKind::SendsUnbuffered).holds());
  }
  // All halves meet, but each device waits for a message of the later group.
  const std::string rendezvous = R"(, "entry": "rendezvous")";
  const Report crossed =
      run(read_scenario(
              "f", scenario(2, R"("program": [)" +
                                   group("g", part("s1", "psend", "[[1, 0]]", "m1", rendezvous) +
                                                  "," + part("r0", "precv", "[[1, 0]]", "m0")) +
                                   "," +
                                   group("h", part("s0", "psend", "[[1, 0]]", "m0", rendezvous) +
                                                  "," + part("r1", "precv", "[[1, 0]]", "m1")) +
                                   "]")),
          RunOptions());
  CHECK_FALSE(check_of(crossed, CheckKind::DeadlockFree).holds());
  CHECK_FALSE(check_of(crossed, CheckKind::SendsUnbuffered).holds());
}

TEST_CASE("groups: a token's site is no site of the scenario") {
  const std::string token = R"({"id": "s", "op": "psend", "of": "a", "axis_name": "x",
                                "perm": [[0, 1]]},
      {"id": "r", "op": "precv", "of": "s", "shape": [2], "dtype": "s32", "axis_name": "x",
       "perm": [[0, 1]]})";
  const std::string other =
      R"("programs": [{"name": "p", "on": {"x": [0, 2]}, "do": [)" + group("g", token) +
      R"(]}, {"name": "q", "on": {"x": [2, 4]}, "do": [)" + part("t", "psend", "[[2, 3]]", "s") +
      "," + part("u", "precv", "[[2, 3]]", "s") + "]}]";
  const Report report = run(read_scenario("f", scenario(4, other)), RunOptions());
  CHECK(check_of(report, CheckKind::DeadlockFree).holds());
}

TEST_CASE("groups: the messages to one peer share a connection") {
  const auto connections = [](const std::string& sends, const std::string& receives) {
    std::string text =
        scenario(2, of_programs({sends, receives}), R"(, "memory": {"transport": true})");
    const std::string cluster =
        text.substr(text.find("\"cluster\""), text.find("\"arrays\"") - text.find("\"cluster\""));
    text.replace(text.find(cluster), cluster.size(), R"("cluster": "h100-sxm-8", )");
    const Report report = run(read_scenario("f", text), RunOptions());
    return report.memory.of(LogicalId(1)).transport;
  };
  const std::string send = part("s", "psend", "[[0, 1]]", "1");
  const std::string receive = part("r", "precv", "[[0, 1]]", "1");
  const Bytes one = connections(send, receive);
  CHECK(one > Bytes());
  CHECK(connections(group("g", send + "," + part("t", "psend", "[[0, 1]]", "2")),
                    group("h", part("u", "precv", "[[0, 1]]", "2") + "," + receive)) == one);
  CHECK(connections(group("g", send) + "," + part("t", "psend", "[[0, 1]]", "2"),
                    group("h", receive) + "," + part("u", "precv", "[[0, 1]]", "2")) == one);
}

TEST_CASE("groups: in long loops") {
  const auto loops = [](int first, int second) {
    const auto list = [](const std::string& loop, int trips, int own, int other) {
      return fmt::format(
          R"({{"id": "{0}", "op": "fori_loop", "lower": 0, "upper": {1}, "body": [
              {{"id": "g", "op": "group", "do": [
                {{"id": "s", "op": "psend", "of": "a", "axis_name": "x", "perm": [[{2}, {3}]],
                  "site": "from{2}", "entry": "rendezvous"}},
                {{"id": "r", "op": "precv", "shape": [2], "dtype": "s32", "axis_name": "x",
                  "perm": [[{3}, {2}]], "site": "from{3}"}}]}}]}})",
          loop, trips, own, other);
    };
    return scenario(2, of_programs({list("l", first, 0, 1), list("k", second, 1, 0)}));
  };
  RunOptions options;
  options.data = Data::Off;
  const Report even = run(read_scenario("f", loops(300'000, 300'000)), options);
  CHECK(check_of(even, CheckKind::DeadlockFree).holds());
  CHECK(check_of(even, CheckKind::SendsUnbuffered).holds());
  REQUIRE(even.completion.has_value());
  const Report one = run(read_scenario("f", loops(1, 1)), options);
  CHECK(even.completion->makespan.picoseconds() ==
        300'000 * one.completion->makespan.picoseconds());
  const Report uneven = run(read_scenario("f", loops(300'000, 299'999)), options);
  const Check& check = check_of(uneven, CheckKind::DeadlockFree);
  CHECK_FALSE(check.holds());
  CHECK(check.message.find("\"l[299999].") != std::string::npos);
}

}  // namespace
}  // namespace orrery::test
