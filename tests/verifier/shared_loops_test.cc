// Tests loops whose messages share links: the times with some iterations run and the others added
// up must be those of a run of all iterations.

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/random.h"
#include "tests/support/tries.h"
#include "tests/verifier/long_loops_rig.h"

namespace orrery::test {
namespace {

constexpr uint32_t kDevices = 8;

/// Returns eight devices in pairs, each pair under a switch, and these switches under one more.
std::string tree(int64_t up) {
  std::vector<std::string> links;
  const auto both = [&](const std::string& a, const std::string& b, int64_t bandwidth) {
    for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)})
      links.push_back(
          fmt::format(R"({{"from": {}, "to": {}, "bandwidth": "{} GB/s"}})", from, to, bandwidth));
  };
  for (uint32_t d = 0; d < kDevices; ++d)
    both(std::to_string(d), fmt::format("\"s{}\"", d / 2), 10);
  for (uint32_t s = 0; s < kDevices / 2; ++s)
    both(fmt::format("\"s{}\"", s), "\"top\"", up);
  return fmt::format(R"("topology": "links", "switches": ["s0", "s1", "s2", "s3", "top"],
                        "latency": "300 ns", "links": [{}])",
                     fmt::join(links, ", "));
}

std::string fabric(Random& random) {
  const std::string wires =
      random.below(2) == 0 ? R"("topology": "ring", "bandwidth": "10 GB/s", "latency": "100 ns")"
                           : tree(7 + static_cast<int64_t>(random.below(6)));
  const std::string rates =
      random.below(2) == 0 ? "" : R"(, "reduce_rate": "37 GB/s", "copy_rate": "91 GB/s")";
  return wires + R"(, "launch": "100 ns", "memory_bandwidth": "100 GB/s",
                      "flops": {"f32": "1 TFLOP/s"})" +
         rates;
}

std::string scenario(const std::string& fabric, const std::string& programs) {
  return fmt::format(R"({{"orrery": 1, "cluster": {{"devices": {}, {}}}, "mesh": {{"x": 2, "y": 4}},
    "arrays": {{"a": {{"shape": [32768], "dtype": "f32", "spec": [["x", "y"]]}}}},
    "check_types": false, {}}})",
                     kDevices, fabric, programs);
}

/// A `Body` may be in two programs. Then the collectives that cross "x" meet at sites.
class Body {
 public:
  /// With `starts`, all collectives are started ones.
  explicit Body(Random& random, bool starts = false) {
    const size_t ops = 2 + random.below(5);
    for (size_t i = 0; i < ops; ++i) {
      const uint64_t kind =
          starts ? std::array<uint64_t, 3>{2, 3, 6}[random.below(3)] : random.below(8);
      kinds_.push_back({kind, random.below(4), random.below(2), random.below(40)});
    }
    carried_ = random.below(2) == 0;
  }

  /// Returns the loop for a program whose names begin with `prefix`. The loop begins with the value
  /// `from`.
  std::string loop(const std::string& prefix, int64_t trips, const std::string& from, bool at_sites,
                   bool slower) const {
    std::vector<std::string> body;
    std::vector<std::string> futures;
    std::string last = prefix + "h";
    for (size_t i = 0; i < kinds_.size(); ++i) {
      const auto [kind, axis, stream, size] = kinds_[i];
      const std::string id = fmt::format("{}o{}", prefix, i);
      const std::string axes = std::array{R"("x")", R"("y")", R"("y")", R"(["x", "y"])"}[axis];
      const std::string site = at_sites && axes.find('x') != std::string::npos
                                   ? fmt::format(R"(, "site": "{}m{}")", prefix.substr(1), i)
                                   : "";
      const bool starts = kind == 2 || kind == 3;
      std::string op;
      if (kind <= 2)
        op = fmt::format(R"("psum{}", "axis_name": {}, "algorithm": "{}")", starts ? "_start" : "",
                         axes, stream == 0 ? "recursive_doubling" : "ring");
      else if (kind <= 4)
        op = fmt::format(R"("all_to_all{}", "axis_name": {}, "split_axis": 0, "concat_axis": 0,
                            "tiled": true, "algorithm": "{}")",
                         starts ? "_start" : "", axes, stream == 0 ? "direct" : "pairwise");
      else if (kind == 5)
        op = R"("ppermute", "axis_name": "y", "perm": [[0, 1], [1, 2], [3, 0]])";
      else
        op = fmt::format(R"("compute", "flops": "{} MFLOP", "bytes": "{} KiB", "dtype": "f32",
                            "shape": [4096])",
                         size, slower ? 3 * size : size);
      body.push_back(fmt::format(R"({{"id": "{}", "of": "{}"{}{}, "op": {}}})", id, last,
                                 kind == 5 ? "" : (kind > 5 ? "" : site),
                                 starts ? fmt::format(R"(, "stream": {})", stream) : "", op));
      if (starts)
        futures.push_back(id);
      else
        last = id;
    }
    std::string carry = fmt::format(R"("{}h": "{}")", prefix, from);
    std::string yield = fmt::format(R"("{}h": "{}")", prefix, last);
    std::string before;
    std::string after;
    for (size_t f = 0; f < futures.size(); ++f) {
      if (!carried_ || f > 0) {
        body.push_back(
            fmt::format(R"({{"id": "{}d{}", "op": "done", "of": "{}"}})", prefix, f, futures[f]));
        continue;
      }
      before = fmt::format(
          R"({{"id": "{0}f0", "op": "psum_start", "of": "a", "axis_name": "y"}}, )", prefix);
      carry += fmt::format(R"(, "{0}f": "{0}f0")", prefix);
      yield += fmt::format(R"(, "{}f": "{}")", prefix, futures[f]);
      body.insert(body.begin(),
                  fmt::format(R"({{"id": "{0}df", "op": "done", "of": "{0}f"}})", prefix));
      after = fmt::format(R"(, {{"id": "{0}zf", "op": "done", "of": "{0}l.{0}f"}})", prefix);
    }
    return before +
           test::loop(prefix + "l", trips, carry, fmt::format("{}", fmt::join(body, ", ")), yield) +
           after;
  }

 private:
  struct Kind {
    uint64_t kind, axis, stream, size;
  };
  std::vector<Kind> kinds_;
  bool carried_ = false;
};

std::vector<Fault> faults(Random& random) {
  std::vector<Fault> faults;
  if (random.below(3) == 0) {
    const auto times = 3 + static_cast<int64_t>(random.below(7));
    faults.push_back(slow(static_cast<uint32_t>(random.below(kDevices)), times, 2));
  }
  if (random.below(3) == 0)
    faults.emplace_back(LateStart{LogicalId(random.below(kDevices)),
                                  Duration(static_cast<int64_t>(random.below(50'000'000)))});
  return faults;
}

/// Returns faults by which devices have slightly different speeds, and some begin later. Devices
/// that are ahead lose their lead slowly over many iterations, until they have to wait.
std::vector<Fault> drift(Random& random) {
  std::vector<Fault> faults;
  for (uint32_t d = 0; d < kDevices; ++d) {
    faults.push_back(slow(d, 1000 + static_cast<int64_t>(random.below(3)) * 20, 1000));
    if (random.below(2) == 0)
      faults.emplace_back(
          LateStart{LogicalId(d), Duration(static_cast<int64_t>(random.below(20'000'000)))});
  }
  return faults;
}

struct Tally {
  size_t programs = 0;
  size_t by_engine = 0;
  size_t added = 0;
  size_t longer_periods = 0;

  void add(const Outcome& outcome) {
    ++programs;
    if (outcome.by != TimedBy::Engine)
      return;
    ++by_engine;
    added += outcome.added > 0 ? 1 : 0;
    longer_periods += outcome.longest_period > 1 ? 1 : 0;
  }
  void show() const {
    MESSAGE("of " << programs << " programs, the engine ran " << by_engine << ", and " << added
                  << " with iterations added, " << longer_periods << " in periods of several");
  }
};

int64_t some_trips(Random& random) {
  return 70 + static_cast<int64_t>(random.below(150));
}

/// Tries random programs; `check` makes and checks one. It draws one random number per statement,
/// so that all compilers make the same programs.
template <class Check>
Tally tally_of(uint64_t seed, size_t programs, Check&& check) {
  Random random(seed);
  Tally tally;
  for (uint64_t i = 0; i < tries(programs); ++i)
    tally.add(check(random));
  tally.show();
  return tally;
}

TEST_CASE("shared loops: one program") {
  const Tally tally = tally_of(1, 15, [](Random& random) {
    const Body body(random);
    const std::string wires = fabric(random);
    const std::vector<Fault> slower = faults(random);
    const int64_t trips = some_trips(random);
    return check_same(
        scenario(wires, R"("program": [)" + body.loop("p", trips, "a", false, false) +
                            R"(, {"id": "z", "op": "psum", "of": "pl.ph", "axis_name": "x"}])"),
        slower);
  });
  if (is_all_tried()) {
    CHECK(tally.by_engine > 10);
    CHECK(tally.added > tally.by_engine / 2);
  }
}

TEST_CASE("shared loops: two programs, whose loops meet or not") {
  const Tally tally = tally_of(2, 15, [](Random& random) {
    const Body body(random);
    const std::string wires = fabric(random);
    const int64_t trips = some_trips(random);
    const std::vector<Fault> slower = faults(random);
    return check_same(scenario(wires, R"("programs": [{"on": {"x": 0}, "do": [)" +
                                          body.loop("p", trips, "a", true, false) +
                                          R"(]}, {"on": {"x": 1}, "do": [)" +
                                          body.loop("q", trips, "a", true, true) + "]}]"),
                      slower);
  });
  if (is_all_tried()) {
    CHECK(tally.by_engine > 10);
    CHECK(tally.added > tally.by_engine / 3);
  }
}

TEST_CASE("shared loops: devices that drift apart until they wait for each other") {
  const Tally tally = tally_of(4, 20, [](Random& random) {
    const Body body(random, true);
    const std::string wires = fabric(random);
    const std::vector<Fault> drifting = drift(random);
    const int64_t trips = some_trips(random);
    return check_same(
        scenario(wires, R"("program": [)" + body.loop("p", trips, "a", false, false) + "]"),
        drifting);
  });
  if (is_all_tried()) {
    CHECK(tally.by_engine > 12);
    CHECK(tally.added > tally.by_engine / 3);
  }
}

TEST_CASE("shared loops: one after the other") {
  const Tally tally = tally_of(3, 8, [](Random& random) {
    const Body first(random);
    const Body second(random);
    const std::string wires = fabric(random);
    const std::vector<Fault> slower = faults(random);
    const int64_t second_trips = some_trips(random);
    const int64_t first_trips = some_trips(random);
    return check_same(
        scenario(wires, R"("program": [)" + first.loop("p", first_trips, "a", false, false) + ", " +
                            second.loop("q", second_trips, "pl.ph", false, false) +
                            R"(, {"id": "z", "op": "psum", "of": "ql.qh", "axis_name": "x"}])"),
        slower);
  });
  if (is_all_tried()) {
    CHECK(tally.by_engine > 5);
    CHECK(tally.added > tally.by_engine / 2);
  }
}

/// Returns a loop whose messages share links, whatever its trip count.
std::string crowded(const std::string& id, int64_t trips, const std::string& from) {
  return loop(
      id, trips, fmt::format(R"("{}h": "{}")", id, from),
      fmt::format(R"({{"id": "{0}s", "of": "{0}h", "op": "all_to_all", "axis_name": ["x", "y"],
                               "split_axis": 0, "concat_axis": 0, "tiled": true,
                               "algorithm": "direct"}})",
                  id),
      fmt::format(R"("{0}h": "{0}s")", id));
}

const std::string kWires = R"("topology": "ring", "bandwidth": "10 GB/s", "latency": "100 ns",
  "launch": "100 ns", "memory_bandwidth": "100 GB/s", "flops": {"f32": "1 TFLOP/s"})";

TEST_CASE("shared loops: a million iterations, of which few are run") {
  const auto program = [&](int64_t trips) {
    return scenario(kWires, R"("program": [)" + crowded("l", trips, "a") + "]");
  };
  const auto makespan = [&](int64_t trips) {
    Timed timed(program(trips), LongLoops::LeftOut, {});
    return timed.stages.times().value().makespan;
  };
  Timed many(program(1'000'000), LongLoops::LeftOut, {});
  const Completion& times = many.stages.times().value();
  CHECK(times.by == TimedBy::Engine);
  CHECK(times.added[0].count > 999'900);
  CHECK(times.added[0].every == 1);
  const Duration each = makespan(11) - makespan(10);
  CHECK(times.added[0].later == each);
  CHECK(times.makespan == makespan(10) + each * 999'990);
  CHECK(times.messages == 1'000'000 * 56);
}

TEST_CASE("shared loops: iterations of an outer loop are added up, however long the inner one is") {
  for (const int64_t inner : {7, 8, 40}) {
    CAPTURE(inner);
    const auto timed = [&](int64_t trips) {
      return Timed(scenario(kWires, R"("program": [)" +
                                        loop("l", trips, R"("lh": "a")", crowded("m", inner, "lh"),
                                             R"("lh": "m")") +
                                        "]"),
                   LongLoops::LeftOut, {})
          .stages.times()
          .value();
    };
    const Completion times = timed(100'000);
    CHECK(times.by == TimedBy::Engine);
    CHECK(times.added[0].count > 99'900);
    const Duration each = timed(31).makespan - timed(30).makespan;
    CHECK(times.makespan == timed(30).makespan + each * 99'970);
  }
}

TEST_CASE("shared loops: an inner loop begins while collectives of its run before are under way") {
  // Nothing waits for "s", and adding takes no time. So each run of "n" begins
  // with a queue that the run before has left.
  const std::string instant = R"("topology": "ring", "bandwidth": "1 GB/s", "latency": "1 us")";
  for (const int64_t trips : {8, 9, 25}) {
    CAPTURE(trips);
    const std::string innermost =
        loop("n", trips, R"("f": "h")",
             R"({"id": "s", "op": "psum_start", "of": "f", "axis_name": "x", "stream": 1},
                {"id": "u", "op": "add", "of": ["f", "f"]},
                {"id": "t", "op": "psum", "of": "g", "axis_name": "x"})",
             R"("f": "u")");
    const std::string program =
        loop("l", 5, R"("h": "a", "k": "a")",
             loop("m", trips, R"("g": "k")", innermost, R"("g": "n")") +
                 R"(, {"id": "v", "op": "psum_start", "of": "h", "axis_name": "x", "stream": 1})",
             R"("h": "m", "k": "m")");
    const auto outcome = check_same(scenario_text(instant, R"("program": [)" + program + "]"));
    CHECK(outcome.by == TimedBy::Engine);
    CHECK(outcome.added > 0);
  }
}

TEST_CASE("shared loops: iterations that take different times are all run") {
  const std::string compute =
      R"({"id": "c", "of": "lh", "op": "compute", "flops": "1 MFLOP", "bytes": "1 KiB",
          "dtype": "f32", "shape": [4096]},
         {"id": "s", "of": "c", "op": "all_to_all", "axis_name": ["x", "y"], "split_axis": 0,
          "concat_axis": 0, "tiled": true, "algorithm": "direct"})";
  const auto program = [&](int64_t trips) {
    return scenario(kWires, R"("program": [)" +
                                loop("l", trips, R"("lh": "a")", compute, R"("lh": "s")") + "]");
  };
  CHECK(check_same(program(150)).added > 0);
  const Fault jitter = Jitter{Duration(5'000'000), Duration()};
  CHECK(check_same(program(150), {jitter}).added == 0);
}

/// Returns a loop with two local ops in each iteration.
std::string local(const std::string& id, int64_t trips, const std::string& from,
                  const std::string& inside = "") {
  const std::string carried = inside.empty() ? id + "h" : inside.substr(0, inside.find('|'));
  const std::string loops = inside.empty() ? "" : inside.substr(inside.find('|') + 1) + ", ";
  return loop(id, trips, fmt::format(R"("{}h": "{}")", id, from),
              fmt::format(R"({1}{{"id": "{0}e", "op": "exp", "of": "{2}"}},
                             {{"id": "{0}s", "op": "add", "of": ["{0}e", "a"]}})",
                          id, loops, carried),
              fmt::format(R"("{0}h": "{0}s")", id));
}

TEST_CASE("shared loops: iterations of local ops alone are not run") {
  const std::vector<Fault> slower = {slow(3, 5, 3)};
  const auto check = [&](const std::string& ops) {
    const std::string program = R"("program": [)" + ops + "]";
    for (const std::vector<Fault>& faults : {std::vector<Fault>(), slower}) {
      const Outcome outcome = check_same(scenario(kWires, program), faults);
      CHECK(outcome.by == TimedBy::Engine);
      CHECK(outcome.added > 0);
    }
  };
  const std::string before = crowded("c", 3, "a") + ", ";
  check(before + local("l", 40, "c"));
  check(before + local("l", 40, "c") + ", " + crowded("d", 3, "l"));
  check(before + local("o", 12, "c", "m|" + local("m", 30, "oh")));
  check(before + loop("o", 12, R"("oh": "c")", local("m", 30, "oh"), R"("oh": "m")") + ", " +
        crowded("d", 3, "o"));
  // The loop of local ops is in a loop with messages, which is run in part.
  check(loop("o", 90, R"("oh": "a")", local("m", 30, "oh") + ", " + crowded("c", 2, "m"),
             R"("oh": "c")"));
  check(loop("o", 9, R"("oh": "a")",
             local("m", 8, "oh", "n|" + local("n", 7, "mh")) + ", " + crowded("c", 2, "m"),
             R"("oh": "c")"));
  // Started collectives are in flight meanwhile.
  check(before + R"({"id": "f", "of": "c", "op": "all_to_all_start", "axis_name": ["x", "y"],
                     "split_axis": 0, "concat_axis": 0, "tiled": true, "algorithm": "direct"}, )" +
        local("l", 40, "c") + R"(, {"id": "d", "op": "done", "of": "f"}, )" + crowded("e", 2, "l"));
}

TEST_CASE("shared loops: random ones around local ops") {
  const Tally tally = tally_of(5, 8, [](Random& random) {
    const Body first(random);
    const Body second(random);
    const std::string wires = fabric(random);
    const std::vector<Fault> slower = faults(random);
    const int64_t first_trips = some_trips(random);
    const int64_t second_trips = some_trips(random);
    const int64_t local_trips = some_trips(random);
    return check_same(
        scenario(wires, R"("program": [)" + first.loop("p", first_trips, "a", false, false) + ", " +
                            local("m", local_trips, "pl.ph") + ", " +
                            second.loop("q", second_trips, "m", false, false) + "]"),
        slower);
  });
  CHECK(tally.added == tally.by_engine);
}

TEST_CASE("shared loops: a million iterations of local ops, within the limit on ops") {
  const auto makespan = [](int64_t trips) {
    Timed timed(scenario(kWires, R"("program": [)" + crowded("c", 3, "a") + ", " +
                                     local("l", trips, "c") + ", " + crowded("d", 3, "l") + "]"),
                LongLoops::LeftOut, {});
    const Completion& times = timed.stages.times().value();
    CHECK(times.by == TimedBy::Engine);
    return times.makespan;
  };
  const Duration each = makespan(21) - makespan(20);
  CHECK(makespan(1'000'000) == makespan(20) + each * 999'980);
}

TEST_CASE("shared loops: loops in loops, and two programs that run at the same time") {
  const std::string inner = crowded("m", 12, "lh");
  CHECK(check_same(scenario(kWires, R"("program": [)" +
                                        loop("l", 90, R"("lh": "a")", inner, R"("lh": "m")") + "]"))
            .added > 0);
  const auto over_y = [](const std::string& id, const std::string& op) {
    return loop(id, 90, fmt::format(R"("{}h": "a")", id),
                fmt::format(R"({{"id": "{0}s", "of": "{0}h", "axis_name": "y", {1}}})", id, op),
                fmt::format(R"("{0}h": "{0}s")", id));
  };
  // The iterations of both programs run at the same time, each at a pace of its own.
  const Outcome both = check_same(
      scenario(kWires, R"("programs": [{"on": {"x": 0}, "do": [)" +
                           over_y("l", R"("op": "psum", "algorithm": "recursive_doubling")") +
                           R"(]}, {"on": {"x": 1}, "do": [)" +
                           over_y("k", R"("op": "all_to_all", "split_axis": 0, "concat_axis": 0,
                                 "tiled": true, "algorithm": "direct")") +
                           "]}]"));
  CHECK(both.by == TimedBy::Engine);
}

}  // namespace
}  // namespace orrery::test
