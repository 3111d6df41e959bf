// Tests random loops in loops in loops. With iterations left out, a program must have the times,
// the memory and the verdicts that it has with all iterations.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/random.h"
#include "tests/support/tries.h"
#include "tests/verifier/long_loops_rig.h"

namespace orrery::test {
namespace {

/// `RandomNest` makes a program of loops in loops. Their bodies have sync and started collectives
/// on two streams, some of which nothing waits for, and local ops. Values and futures of single
/// iterations, at any depth, are read after the loops.
class RandomNest {
 public:
  explicit RandomNest(uint64_t seed) : random_(seed) {}

  std::string program() {
    std::vector<std::string> values = {"a", "b"};
    std::string ops;
    for (uint64_t loops = 1 + random_.below(2); loops > 0; --loops)
      ops += (ops.empty() ? "" : ", ") + loop(1, values);
    for (const Named& named : named_) {
      const std::string id = next("e");
      ops += fmt::format(R"(, {{"id": "{}", "op": "{}", "of": "{}"}})", id,
                         named.future ? "done" : "neg", name_of(named));
      values.push_back(id);
    }
    std::vector<std::string> outputs;
    for (size_t v = 2; v < values.size(); ++v)
      if (random_.below(3) == 0)
        outputs.push_back(fmt::format(R"("{}")", values[v]));
    const std::string reuse = random_.below(2) == 0 ? R"("memory": {"reuse": "xla"}, )" : "";
    return reuse + fmt::format(R"("outputs": [{}], "program": [)", fmt::join(outputs, ", ")) +
           R"({"id": "b", "op": "neg", "of": "a"}, )" + ops + "]";
  }

 private:
  struct Around {
    std::string id;
    int64_t lower = 0;
    int64_t trips = 0;
  };
  /// A value of the body of the innermost of these loops, outer ones first.
  struct Named {
    std::vector<Around> loops;
    std::string id;
    bool future = false;
  };

  std::string next(std::string_view prefix) { return fmt::format("{}{}", prefix, made_++); }
  const std::string& any(const std::vector<std::string>& of) {
    return of[random_.below(of.size())];
  }

  /// Returns the name of the value in one of the first, the last, or any iteration of each loop.
  std::string name_of(const Named& named) {
    std::string name;
    for (const Around& loop : named.loops) {
      const int64_t near = static_cast<int64_t>(random_.below(4)) % loop.trips;
      const int64_t at = static_cast<int64_t>(random_.below(static_cast<uint64_t>(loop.trips)));
      const int64_t number = std::array{near, loop.trips - 1 - near, at}[random_.below(3)];
      name += fmt::format("{}[{}].", loop.id, loop.lower + number);
    }
    return name + named.id;
  }

  /// Returns a loop, and adds its results to `values`.
  std::string loop(size_t depth, std::vector<std::string>& values) {
    const std::string id = next("l");
    const auto trips = static_cast<int64_t>(depth == 1 ? std::array{7, 20, 33}[random_.below(3)]
                                                       : std::array{2, 9, 17}[random_.below(3)]);
    around_.push_back({id, static_cast<int64_t>(random_.below(3)) - 1, trips});
    std::vector<std::string> carries;
    for (uint64_t c = 1 + random_.below(3); c > 0; --c)
      carries.push_back(next("c"));
    std::vector<std::string> inside = values;
    inside.insert(inside.end(), carries.begin(), carries.end());
    std::vector<std::string> made;
    const std::string body = this->body(depth, inside, made);
    std::vector<std::string> initial;
    std::vector<std::string> yielded;
    for (const std::string& carry : carries) {
      const bool makes = !made.empty() && random_.below(10) < 7;
      initial.push_back(fmt::format(R"("{}": "{}")", carry, any(values)));
      yielded.push_back(fmt::format(R"("{}": "{}")", carry, any(makes ? made : carries)));
    }
    const Around around = around_.back();
    around_.pop_back();
    for (const std::string& carry : carries)
      values.push_back(id + "." + carry);
    return fmt::format(R"({{"id": "{}", "op": "fori_loop", "lower": {}, "upper": {},
                            "carry": {{{}}}, "body": [{}], "yield": {{{}}}}})",
                       id, around.lower, around.lower + trips, fmt::join(initial, ", "), body,
                       fmt::join(yielded, ", "));
  }

  std::string body(size_t depth, std::vector<std::string>& inside, std::vector<std::string>& made) {
    std::vector<std::string> ops;
    std::vector<std::string> futures;
    for (uint64_t count = 1 + random_.below(4); count > 0; --count) {
      const std::string id = next("o");
      const std::string axis = random_.below(2) == 0 ? "x" : "y";
      const uint64_t kind = random_.below(5);
      if (kind == 0 && depth < 3) {
        const size_t before = inside.size();
        ops.push_back(loop(depth + 1, inside));
        made.insert(made.end(), inside.begin() + static_cast<ptrdiff_t>(before), inside.end());
        continue;
      }
      if (kind == 1) {
        const uint64_t stream = random_.below(2);
        ops.push_back(fmt::format(
            R"({{"id": "{}", "op": "psum_start", "of": "{}", "axis_name": "{}", "stream": {}}})",
            id, any(inside), axis, stream));
        futures.push_back(id);
        continue;
      }
      if (kind == 2 && !futures.empty()) {
        ops.push_back(
            fmt::format(R"({{"id": "{}", "op": "done", "of": "{}"}})", id, futures.back()));
        futures.pop_back();
      } else if (kind == 3) {
        ops.push_back(fmt::format(R"({{"id": "{}", "op": "psum", "of": "{}", "axis_name": "{}"}})",
                                  id, any(inside), axis));
      } else {
        ops.push_back(fmt::format(R"({{"id": "{}", "op": "neg", "of": "{}"}})", id, any(inside)));
      }
      if (random_.below(6) == 0)
        named_.push_back({around_, id, false});
      inside.push_back(id);
      made.push_back(id);
    }
    for (const std::string& future : futures)
      if (random_.below(2) == 0)
        named_.push_back({around_, future, true});
    return fmt::format("{}", fmt::join(ops, ", "));
  }

  Random random_;
  size_t made_ = 0;
  std::vector<Around> around_;
  std::vector<Named> named_;
};

TEST_CASE("random nests: loops in loops, whose single iterations are read or done after them") {
  const std::string instant = R"("topology": "ring", "bandwidth": "1 GB/s", "latency": "1 us")";
  size_t left_out = 0;
  size_t by_engine = 0;
  const size_t programs = tries(150);
  for (size_t i = 0; i < programs; ++i) {
    CAPTURE(i);
    const std::string& cluster = std::array{&instant, &kRing, &kSwitch}[i % 3][0];
    const Outcome outcome = check_same(scenario_text(cluster, RandomNest(i).program()));
    left_out += outcome.left_out ? 1 : 0;
    by_engine += outcome.by == TimedBy::Engine ? 1 : 0;
  }
  CHECK(left_out > programs / 2);
  CHECK(by_engine > programs / 20);
}

}  // namespace
}  // namespace orrery::test
