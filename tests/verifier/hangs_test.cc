// Tests programs in which a member never comes to a collective: a skipped call, loops of different
// trip counts, a rank alone. The verdict must be that of a search over all interleavings, and the
// cause that of the program with all iterations written. The same search judges collectives that
// devices issue in opposite orders on two streams.

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/random.h"
#include "models/program/loops.h"
#include "models/scenario/reader.h"
#include "models/scenario/writer.h"
#include "tests/support/tries.h"
#include "verifier/check/names.h"
#include "verifier/run.h"

namespace orrery::test {
namespace {

RunOptions without_data() {
  RunOptions options;
  options.data = Data::Off;
  options.proof_budget = 0;
  options.slack_budget = 0;
  return options;
}

Check deadlock_check(const Report& report) {
  const auto found = std::ranges::find(
      report.checks, std::string(info(CheckKind::DeadlockFree).name), &Check::name);
  REQUIRE(found != report.checks.end());
  return *found;
}

std::string scenario(uint32_t devices, const std::vector<std::string>& programs) {
  return fmt::format(R"({{"orrery": 1, "mesh": {{"x": {0}}}, "check_types": false,
    "cluster": {{"devices": {0}, "topology": "switch", "bandwidth": "50 GB/s", "latency": "1 us"}},
    "arrays": {{"a": {{"shape": [{0}], "dtype": "f32", "spec": ["x"]}}}}, "programs": [{1}]}})",
                     devices, fmt::join(programs, ",\n"));
}

std::string program(uint32_t device, const std::vector<std::string>& ops) {
  return fmt::format(R"({{"name": "p{0}", "on": {{"x": {0}}}, "do": [{1}]}})", device,
                     fmt::join(ops, ", "));
}

/// A `Call` is one op of a device: a psum at a site, or its start, or the done of that.
struct Call {
  enum class Kind : uint8_t { Sync, Start, Done };
  Kind kind = Kind::Sync;
  uint32_t site = 0;
  uint32_t stream = 0;  // of a start
};

/// `Calls` are the lists of all devices. Each site has groups: the members of each device's one.
struct Calls {
  std::vector<std::vector<Call>> of;                              // per device
  std::map<uint32_t, std::vector<std::vector<uint32_t>>> groups;  // per site

  const std::vector<uint32_t>& group(uint32_t site, uint32_t device) const {
    return *std::ranges::find_if(groups.at(site), [&](const std::vector<uint32_t>& group) {
      return std::ranges::find(group, device) != group.end();
    });
  }
};

/// Searches all interleavings of the devices. A device enters a collective once all that it issued
/// before on the stream have ended there, and a collective ends once all members have entered.
class Search {
 public:
  explicit Search(const Calls& calls) : calls_(calls) {}

  bool always_ends() { return ends_from(State{std::vector<Device>(calls_.of.size())}); }
  /// Returns devices with two sites that were in flight there together, in the order of issue.
  /// Requires that the search is over.
  const std::set<std::array<uint32_t, 3>>& together() const { return together_; }

 private:
  struct Device {
    size_t next = 0;               // of its calls
    std::vector<uint32_t> issued;  // sites, in order
    std::set<uint32_t> ended;
    friend auto operator<=>(const Device&, const Device&) = default;
  };
  struct State {
    std::vector<Device> devices;
    friend auto operator<=>(const State&, const State&) = default;
  };

  uint32_t stream(uint32_t device, uint32_t site) const {
    for (const Call& call : calls_.of[device])
      if (call.site == site && call.kind != Call::Kind::Done)
        return call.stream;
    return 0;
  }

  bool has_entered(const State& state, uint32_t device, uint32_t site) const {
    const Device& at = state.devices[device];
    for (const uint32_t earlier : at.issued) {
      if (earlier == site)
        return true;
      if (stream(device, earlier) == stream(device, site) && !at.ended.contains(earlier))
        return false;
    }
    return false;
  }

  /// Returns the state after the device's next event; nothing if it can do nothing.
  std::vector<State> after(const State& state, uint32_t d) const {
    std::vector<State> next;
    const Device& device = state.devices[d];
    for (const uint32_t site : device.issued) {
      const std::vector<uint32_t>& group = calls_.group(site, d);
      if (device.ended.contains(site) || !std::ranges::all_of(group, [&](uint32_t member) {
            return has_entered(state, member, site);
          }))
        continue;
      next.push_back(state);
      next.back().devices[d].ended.insert(site);
    }
    if (device.next == calls_.of[d].size())
      return next;
    const Call& call = calls_.of[d][device.next];
    const bool issued = std::ranges::find(device.issued, call.site) != device.issued.end();
    State moved = state;
    if (call.kind != Call::Kind::Done && !issued) {
      moved.devices[d].issued.push_back(call.site);
      if (call.kind == Call::Kind::Start)
        ++moved.devices[d].next;
    } else if (device.ended.contains(call.site)) {
      ++moved.devices[d].next;
    } else {
      return next;
    }
    next.push_back(std::move(moved));
    return next;
  }

  bool ends_from(const State& state) {
    if (!seen_.insert(state).second)
      return true;  // its own search says so
    note_together(state);
    bool any = false;
    for (uint32_t d = 0; d < state.devices.size(); ++d)
      for (const State& next : after(state, d)) {
        any = true;
        if (!ends_from(next))
          return false;
      }
    if (any)
      return true;
    for (uint32_t d = 0; d < state.devices.size(); ++d)
      if (state.devices[d].next < calls_.of[d].size() ||
          state.devices[d].ended.size() < state.devices[d].issued.size())
        return false;
    return true;
  }

  void note_together(const State& state) {
    for (uint32_t d = 0; d < state.devices.size(); ++d) {
      std::vector<uint32_t> in_flight;
      for (const uint32_t site : state.devices[d].issued)
        if (!state.devices[d].ended.contains(site))
          in_flight.push_back(site);
      for (size_t second = 1; second < in_flight.size(); ++second)
        for (size_t first = 0; first < second; ++first)
          together_.insert({d, in_flight[first], in_flight[second]});
    }
  }

  const Calls& calls_;
  std::set<State> seen_;
  std::set<std::array<uint32_t, 3>> together_;
};

/// Each device issues some of the sites, in an order of its own in half of the programs.
Calls random_calls(Random& random) {
  Calls calls;
  const auto devices = static_cast<uint32_t>(2 + random.below(2));
  const auto sites = static_cast<uint32_t>(1 + random.below(3));
  std::vector<uint32_t> streams;
  for (uint32_t s = 0; s < sites; ++s) {
    calls.groups[s] = devices == 3 && random.below(3) == 0
                          ? std::vector<std::vector<uint32_t>>{{0, 2}, {1}}
                          : std::vector<std::vector<uint32_t>>{{}};
    if (calls.groups[s].front().empty())
      for (uint32_t d = 0; d < devices; ++d)
        calls.groups[s].front().push_back(d);
    streams.push_back(static_cast<uint32_t>(random.below(2)));
  }
  const bool reordered = random.below(2) == 0;
  const bool skips = random.below(2) == 0;
  for (uint32_t d = 0; d < devices; ++d) {
    std::vector<uint32_t> order;
    for (uint32_t s = 0; s < sites; ++s)
      if (!skips || random.below(5) != 0)
        order.push_back(s);
    for (size_t i = order.size(); reordered && i > 1; --i)
      std::swap(order[i - 1], order[random.below(i)]);
    std::vector<Call> list;
    std::vector<uint32_t> open;
    for (const uint32_t site : order) {
      const bool starts = list.size() + open.size() + 2 <= 5 && random.below(2) == 0;
      list.push_back({starts ? Call::Kind::Start : Call::Kind::Sync, site, streams[site]});
      if (starts)
        open.push_back(site);
      if (!open.empty() && random.below(2) == 0) {
        list.push_back({Call::Kind::Done, open.front(), 0});
        open.erase(open.begin());
      }
    }
    for (const uint32_t site : open)
      list.push_back({Call::Kind::Done, site, 0});
    calls.of.push_back(std::move(list));
  }
  return calls;
}

std::string text_of(const Calls& calls) {
  std::vector<std::string> programs;
  for (uint32_t d = 0; d < calls.of.size(); ++d) {
    std::vector<std::string> ops;
    for (const Call& call : calls.of[d]) {
      if (call.kind == Call::Kind::Done) {
        ops.push_back(
            fmt::format(R"({{"id": "p{0}d{1}", "op": "done", "of": "p{0}s{1}"}})", d, call.site));
        continue;
      }
      const std::vector<std::vector<uint32_t>>& groups = calls.groups.at(call.site);
      ops.push_back(fmt::format(
          R"({{"id": "p{0}s{1}", "op": "psum{2}", "of": "a", "axis_name": "x", "site": "s{1}",
               "stream": {3}{4}}})",
          d, call.site, call.kind == Call::Kind::Start ? "_start" : "", call.stream,
          groups.size() == 1 ? "" : R"(, "axis_index_groups": [[0, 2], [1]])"));
    }
    programs.push_back(program(d, ops));
  }
  return scenario(static_cast<uint32_t>(calls.of.size()), programs);
}

TEST_CASE("absent members: the verdict is that of a search over all interleavings") {
  Random random(20261126);
  size_t hang = 0;
  size_t absent = 0;
  const size_t programs = tries(3000);
  for (size_t i = 0; i < programs; ++i) {
    const Calls calls = random_calls(random);
    const std::string text = text_of(calls);
    CAPTURE(text);
    const Check check = deadlock_check(run(read_scenario("f", text), without_data()));
    const bool ends = Search(calls).always_ends();
    REQUIRE(check.holds() == ends);
    hang += ends ? 0 : 1;
    absent += check.message.find("at site") != std::string::npos ? 1 : 0;
  }
  MESSAGE("of " << programs << " programs, " << hang << " hang, " << absent
                << " of them for want of a member");
  CHECK(hang > programs / 4);
  CHECK(absent > programs / 8);
}

/// Returns whether two collectives on different streams, which share two devices, are issued there
/// in opposite orders, and are in flight together in some interleaving.
bool in_opposite_orders(const Calls& calls, const std::set<std::array<uint32_t, 3>>& together) {
  const auto place = [&](uint32_t device, uint32_t site) -> std::optional<size_t> {
    const std::vector<Call>& list = calls.of[device];
    const auto at = std::ranges::find(list, site, &Call::site);
    return at == list.end() ? std::nullopt : std::optional<size_t>(at - list.begin());
  };
  const auto devices = static_cast<uint32_t>(calls.of.size());
  const auto stream = [&](uint32_t site, uint32_t device) {
    return calls.of[device][*place(device, site)].stream;
  };
  for (const auto& [a, groups_of_a] : calls.groups)
    for (const auto& [b, groups_of_b] : calls.groups)
      for (uint32_t p = 0; p < devices; ++p)
        for (uint32_t q = 0; q < devices; ++q) {
          if (p == q || !place(p, a) || !place(p, b) || !place(q, a) || !place(q, b) ||
              stream(a, p) == stream(b, p) || calls.group(a, p) != calls.group(a, q) ||
              calls.group(b, p) != calls.group(b, q))
            continue;
          if (*place(p, a) < *place(p, b) && *place(q, b) < *place(q, a) &&
              (together.contains({p, a, b}) || together.contains({q, b, a})))
            return true;
        }
  return false;
}

TEST_CASE("streams: collectives in opposite orders fail where some interleaving has both") {
  Random random(20261128);
  size_t fail = 0;
  size_t hold = 0;
  const size_t programs = tries(3000);
  for (size_t i = 0; i < programs; ++i) {
    const Calls calls = random_calls(random);
    const std::string text = text_of(calls);
    CAPTURE(text);
    Search search(calls);
    if (!search.always_ends())
      continue;  // DEADLOCK.FREE says so
    const Report report = run(read_scenario("f", text), without_data());
    const auto check = std::ranges::find(
        report.checks, std::string(info(CheckKind::StreamsOrdered).name), &Check::name);
    const bool fails = check != report.checks.end() && !check->holds();
    REQUIRE(fails == in_opposite_orders(calls, search.together()));
    fail += fails ? 1 : 0;
    hold += check != report.checks.end() && check->holds() ? 1 : 0;
  }
  MESSAGE("of " << programs << " programs, " << fail << " fail and " << hold << " hold");
  CHECK(fail > programs / 60);
  CHECK(hold > programs / 30);
}

TEST_CASE("streams: a failing check names both collectives and orders, and may be an assumption") {
  const auto started = [](uint32_t d, const std::string& first, const std::string& second) {
    const auto start = [&](const std::string& site) {
      return fmt::format(R"({{"id": "{0}{1}", "op": "psum_start", "of": "a", "axis_name": "x",
                              "site": "{0}", "stream": {2}}})",
                         site, d, site == "A" ? 1 : 2);
    };
    return program(d, {start(first), start(second),
                       fmt::format(R"({{"id": "d{0}", "op": "done", "of": "A{0}"}})", d),
                       fmt::format(R"({{"id": "e{0}", "op": "done", "of": "B{0}"}})", d)});
  };
  std::string text = scenario(2, {started(0, "A", "B"), started(1, "B", "A")});
  const Report report = run(read_scenario("f", text), RunOptions());
  const auto check = std::ranges::find(report.checks, std::string("STREAMS.ORDERED"), &Check::name);
  REQUIRE(check != report.checks.end());
  CHECK(check->verdict == Verdict::Fails);
  CHECK(check->message ==
        "On streams 1 and 2, programs \"p0\" and \"p1\" issue two collectives in opposite orders. "
        "The program ends only if both make progress at the same time on one device, which "
        "communication libraries do not promise.");
  CHECK(check->witness == Witness{{"p0", "A0 before B0"}, {"p1", "B1 before A1"}});
  CHECK(deadlock_check(report).holds());

  text.insert(1, R"("concurrent_streams": true, )");
  const Scenario concurrent = read_scenario("f", text);
  CHECK(read_scenario("f", write_scenario(concurrent)).concurrent_streams);
  const Report assumed = run(concurrent, RunOptions());
  CHECK(std::ranges::find(assumed.checks, std::string("STREAMS.ORDERED"), &Check::name) ==
        assumed.checks.end());
  CHECK(std::ranges::find(assumed.labels,
                          "streams: collectives on two streams of a device make progress at the "
                          "same time (concurrent_streams)") != assumed.labels.end());
  CHECK(assumed.completion->makespan == report.completion->makespan);
}

TEST_CASE("streams: a cycle over three devices, two of which share each collective, is undecided") {
  // x is of devices 0 and 1, y of 1 and 2, z of 0 and 2. Each device starts one of its two before
  // the device with which it shares the other one does.
  const auto started = [](uint32_t d, const std::vector<std::pair<std::string, int>>& starts) {
    std::vector<std::string> ops;
    for (const auto& [site, stream] : starts)
      ops.push_back(fmt::format(R"({{"id": "{0}{1}", "op": "psum_start", "of": "a", "site": "{0}",
          "axis_name": "x", "axis_index_groups": {2}, "stream": {3}}})",
                                site, d,
                                site == "x"   ? "[[0, 1], [2]]"
                                : site == "y" ? "[[1, 2], [0]]"
                                              : "[[0, 2], [1]]",
                                stream));
    for (const auto& [site, stream] : starts)
      ops.push_back(fmt::format(R"({{"id": "{0}{1}d", "op": "done", "of": "{0}{1}"}})", site, d));
    return program(d, ops);
  };
  const Report report = run(read_scenario("f", scenario(3, {started(0, {{"x", 1}, {"z", 3}}),
                                                            started(1, {{"y", 2}, {"x", 1}}),
                                                            started(2, {{"z", 3}, {"y", 2}})})),
                            RunOptions());
  CHECK(deadlock_check(report).holds());
  const auto check = std::ranges::find(report.checks, std::string("STREAMS.ORDERED"), &Check::name);
  REQUIRE(check != report.checks.end());
  CHECK(check->verdict == Verdict::Undecided);
  const std::string where = "is in the cycle, or comes after it";
  CHECK(check->witness == Witness{{"x", where}, {"z", where}, {"y", where}});
}

TEST_CASE("streams: alike on all devices they hold, and on one stream there is nothing to check") {
  const auto started = [](uint32_t d, int stream) {
    return program(d, {fmt::format(R"({{"id": "A{0}", "op": "psum_start", "of": "a",
        "axis_name": "x", "site": "A", "stream": {1}}})",
                                   d, stream),
                       fmt::format(R"({{"id": "B{0}", "op": "psum_start", "of": "a",
        "axis_name": "x", "site": "B", "stream": 2}})",
                                   d),
                       fmt::format(R"({{"id": "d{0}", "op": "done", "of": "A{0}"}})", d),
                       fmt::format(R"({{"id": "e{0}", "op": "done", "of": "B{0}"}})", d)});
  };
  const auto verdict = [&](int stream) -> std::optional<Verdict> {
    const Report report = run(
        read_scenario("f", scenario(2, {started(0, stream), started(1, stream)})), RunOptions());
    const auto check =
        std::ranges::find(report.checks, std::string("STREAMS.ORDERED"), &Check::name);
    return check == report.checks.end() ? std::nullopt : std::optional(check->verdict);
  };
  CHECK(verdict(1) == Verdict::Holds);
  CHECK(verdict(2) == std::nullopt);
}

/// A loop of each device, of collectives, sends and receives that meet. In half of the programs a
/// device has other trips, or lacks a call.
std::string random_loops(Random& random) {
  const auto devices = static_cast<uint32_t>(2 + random.below(2));
  const bool nested = random.below(3) == 0;
  const bool planted = random.below(2) == 0;
  const auto odd = static_cast<uint32_t>(random.below(devices));
  const uint64_t what = random.below(3);  // of what is planted: other trips, outer trips, a call
  const int64_t trips = 10 + static_cast<int64_t>(random.below(60));
  const int64_t outer = nested ? 2 + static_cast<int64_t>(random.below(12)) : 1;
  struct Site {
    bool sends = false;  // from device `from` to the next one; else a psum of all
    uint32_t from = 0;
  };
  std::vector<Site> sites;
  for (uint64_t s = 1 + random.below(3); s-- > 0;)
    sites.push_back({random.below(2) == 0, static_cast<uint32_t>(random.below(devices))});
  const uint64_t lacking = random.below(sites.size());
  std::vector<std::string> programs;
  for (uint32_t d = 0; d < devices; ++d) {
    std::vector<std::string> body;
    std::string last = fmt::format("h{}", d);
    for (size_t s = 0; s < sites.size(); ++s) {
      if (planted && d == odd && what == 2 && s == lacking)
        continue;
      const uint32_t to = (sites[s].from + 1) % devices;
      const std::string id = fmt::format("p{}o{}", d, s);
      const std::string pairs = fmt::format(
          R"("axis_name": "x", "perm": [[{}, {}]], "site": "s{}")", sites[s].from, to, s);
      if (!sites[s].sends) {
        body.push_back(fmt::format(
            R"({{"id": "{}", "op": "psum", "of": "{}", "axis_name": "x", "site": "s{}"}})", id,
            last, s));
        last = id;
      } else if (d == sites[s].from) {
        body.push_back(
            fmt::format(R"({{"id": "{}", "op": "psend", "of": "{}", {}}})", id, last, pairs));
      } else if (d == to) {
        body.push_back(fmt::format(
            R"({{"id": "{}", "op": "precv", "shape": [1], "dtype": "f32", {}}})", id, pairs));
        last = id;
      }
    }
    const auto change = static_cast<int64_t>(1 + random.below(2));
    const bool up = random.below(2) == 0;
    const auto trips_of = [&](int64_t common, uint64_t kind) {
      return planted && d == odd && what == kind ? (up ? common + change : common - change)
                                                 : common;
    };
    const auto loop = [&](const std::string& id, int64_t upper, const std::string& from,
                          const std::string& carry, const std::string& in,
                          const std::string& yield) {
      return fmt::format(R"({{"id": "{}{}", "op": "fori_loop", "lower": 0, "upper": {},
          "carry": {{"{}": "{}"}}, "body": [{}], "yield": {{"{}": "{}"}}}})",
                         id, d, upper, carry, from, in, carry, yield);
    };
    const std::string h = fmt::format("h{}", d);
    const std::string joined = fmt::format("{}", fmt::join(body, ", "));
    if (!nested) {
      programs.push_back(program(d, {loop("l", trips_of(trips, 0), "a", h, joined, last)}));
      continue;
    }
    const std::string g = fmt::format("g{}", d);
    const std::string inner = loop("m", trips_of(trips, 0), g, h, joined, last);
    programs.push_back(
        program(d, {loop("l", trips_of(outer, 1), "a", g, inner, fmt::format("m{}.h{}", d, d))}));
  }
  return scenario(devices, programs);
}

TEST_CASE("absent members: the cause is that of the program with all iterations written") {
  Random random(20261127);
  size_t hang = 0;
  size_t left_out = 0;
  const size_t programs = tries(1000);
  for (size_t i = 0; i < programs; ++i) {
    const std::string text = random_loops(random);
    CAPTURE(text);
    RunOptions options = without_data();
    options.most_ops_shown = 0;
    const Report few = run(read_scenario("f", text), options);
    options.most_ops_shown.reset();
    const Check all = deadlock_check(run(read_scenario("f", text), options));
    const Check ours = deadlock_check(few);
    CHECK(ours.verdict == all.verdict);
    CHECK(ours.message == all.message);
    CHECK(ours.of == all.of);
    CHECK(ours.witness == all.witness);
    hang += all.holds() ? 0 : 1;
    left_out += leaves_out_iterations(few.scenario->program) ? 1 : 0;
  }
  MESSAGE("of " << programs << " programs, " << hang << " hang, and " << left_out
                << " left out iterations");
  CHECK(hang > programs / 4);
  CHECK(left_out > programs / 2);
}

TEST_CASE("absent members: 300,000 iterations against 299,999 end in the last one") {
  const auto looped = [](uint32_t d, int64_t upper) {
    return program(d, {fmt::format(R"({{"id": "l{0}", "op": "fori_loop", "lower": 0, "upper": {1},
      "carry": {{"h{0}": "a"}}, "yield": {{"h{0}": "n{0}"}}, "body": [
        {{"id": "n{0}", "op": "psum", "of": "h{0}", "axis_name": "x", "site": "s"}}]}})",
                                   d, upper)});
  };
  const Report report =
      run(read_scenario("f", scenario(2, {looped(0, 300'000), looped(1, 299'999)})), RunOptions());
  const Check check = deadlock_check(report);
  CHECK(check.verdict == Verdict::Fails);
  CHECK(check.of == "/programs/0/do/0/body/0");
  CHECK(check.message ==
        "The program cannot end: psum \"l0[299999].n0\" on device 0 needs device 1, which issues "
        "no op at site \"s[299999]\".");
  CHECK(check.witness == Witness{{"device 0", "waits in \"l0[299999].n0\" for device 1"},
                                 {"device 1", "at the end of \"p1\", after \"l1[299998].n1\""}});
}

TEST_CASE("absent members: the program fails, too, where nobody waits for the member") {
  // Device 2 neither sends nor receives.
  const std::string text = scenario(3, {R"({"name": "both", "on": {"x": [0, 2]}, "do": [
        {"id": "p", "op": "ppermute", "of": "a", "axis_name": "x", "perm": [[0, 1]], "site": "s"}]})",
                                        program(2, {})});
  const Report report = run(read_scenario("f", text), RunOptions());
  const Check check = deadlock_check(report);
  CHECK_FALSE(report.completion.has_value());
  CHECK(check.message ==
        "The program cannot end: ppermute \"p\" on devices 0-1 needs device 2, which issues no op "
        "at site \"s\".");
  CHECK(check.witness == Witness{{"device 2", "in \"p2\", which has no ops"}});
}

TEST_CASE("absent members: of a ragged exchange no tables are read") {
  const std::string text = R"({"orrery": 1, "mesh": {"x": 2}, "check_types": false,
    "cluster": {"devices": 2, "topology": "switch", "bandwidth": "50 GB/s", "latency": "1 us"},
    "arrays": {"a": {"local_shape": [2], "dtype": "s32", "per_device": [[1, 2], [3, 4]]},
               "t": {"local_shape": [2], "dtype": "s32", "per_device": [[0, 0], [0, 0]]}},
    "programs": [{"name": "p", "on": [0], "do": [
      {"id": "r", "op": "ragged_all_to_all", "of": ["a", "a", "t", "t", "t", "t"],
       "axis_name": "x", "site": "s"}]}]})";
  const Check check = deadlock_check(run(read_scenario("f", text), RunOptions()));
  CHECK(check.verdict == Verdict::Fails);
  CHECK(check.message.find("ragged_all_to_all \"r\" on device 0 needs device 1, which issues no") !=
        std::string::npos);
}

TEST_CASE("absent members: those at several places are shown by place, with the hint of a site") {
  const std::string text =
      scenario(5, {program(0, {R"({"id": "s", "op": "psum", "of": "a", "axis_name": "x"})"}),
                   program(1, {R"({"id": "b", "op": "neg", "of": "a"})"}),
                   program(3, {R"({"id": "t", "op": "psum", "of": "a", "axis_name": "x"})"}),
                   program(4, {})});
  const Check check = deadlock_check(run(read_scenario("f", text), RunOptions()));
  CHECK(check.message ==
        "The program cannot end: psum \"s\" on device 0 needs devices 1-4, none of which issues "
        "it. Ops of several programs meet if they name the same \"site\".");
  CHECK(check.witness == Witness{{"device 0", "waits in \"s\" for devices 1-4"},
                                 {"device 1", "at the end of \"p1\", after \"b\""},
                                 {"device 2", "in no program"},
                                 {"device 3", "waiting in \"t\""},
                                 {"device 4", "in \"p4\", which has no ops"}});
}

TEST_CASE("absent members: nine places that differ in numbers only are one row") {
  std::vector<std::string> programs = {
      program(0, {R"({"id": "s", "op": "psum", "of": "a", "axis_name": "x"})"})};
  for (uint32_t d = 1; d < 10; ++d)
    programs.push_back(program(d, {fmt::format(R"({{"id": "b{}", "op": "neg", "of": "a"}})", d)}));
  const Check check = deadlock_check(run(read_scenario("f", scenario(10, programs)), RunOptions()));
  CHECK(check.witness == Witness{{"device 0", "waits in \"s\" for devices 1-9"},
                                 {"devices 1-9", "at the end of \"p*\", after \"b*\""}});
}

}  // namespace
}  // namespace orrery::test
