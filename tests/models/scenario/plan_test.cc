#include "models/scenario/plan.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/fabric/fabric.h"

namespace orrery {
namespace {

/// Returns a plan of two names with these keys of its own, which stand in lines 1 to N.
std::string plan_with(const std::string& keys) {
  return "{" + keys + R"(,
"orrery": 1, "cluster": {"topology": "switch", "devices": 8, "bandwidth": "1 GB/s", "latency": "1 us"},
"mesh": {"x": "${tp}"}, "check_types": false,
"arrays": {"w": {"shape": [8], "dtype": "f32", "init": "zeros"}},
"program": [{"id": "s", "op": "psum", "of": "w", "axis_name": "x"}]})";
}

const std::string kSweep = R"("sweep": {"tp": [1, 2, 4], "mode": ["none", "all"]})";

Plan plan_of(const std::string& keys, const Limits& limits = {}) {
  return {"f", plan_with(keys), limits};
}

/// Returns what the function throws as wrong input; "" if it throws nothing.
template <class Function>
std::string error_of(const Function& function) {
  try {
    function();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

std::vector<std::string> ids(const Plan& plan) {
  std::vector<std::string> ids;
  for (const std::vector<TemplateValue>& values : plan.points())
    ids.push_back(point_id(plan, values));
  return ids;
}

using Ids = std::vector<std::string>;

TEST_CASE("plans: points are all combinations, the last name first; \"where\" leaves some out") {
  CHECK(ids(plan_of(kSweep)) == Ids{"tp=1,mode=none", "tp=1,mode=all", "tp=2,mode=none",
                                    "tp=2,mode=all", "tp=4,mode=none", "tp=4,mode=all"});
  CHECK(ids(plan_of(kSweep + R"(, "where": "tp > 1 or mode == 'all'")")) ==
        Ids{"tp=1,mode=all", "tp=2,mode=none", "tp=2,mode=all", "tp=4,mode=none", "tp=4,mode=all"});
  CHECK(error_of([] { (void)plan_of(kSweep + R"(, "where": "tp > 4")").points(); }) ==
        "f:1:64: /where: expected points that meet \"tp > 4\", got none of 6");
}

TEST_CASE("plans: a range ends at \"to\" or below; ids tell texts from numbers") {
  CHECK(ids(plan_of(R"("sweep": {"tp": {"from": 1, "to": 8, "times": 2}})")) ==
        Ids{"tp=1", "tp=2", "tp=4", "tp=8"});
  CHECK(ids(plan_of(R"("sweep": {"tp": {"from": 3, "to": 20, "times": 3}})")) ==
        Ids{"tp=3", "tp=9"});
  CHECK(ids(plan_of(R"("sweep": {"tp": {"from": -1, "to": 4, "step": 2}})")) ==
        Ids{"tp=-1", "tp=1", "tp=3"});
  CHECK(ids(plan_of(R"("sweep": {"tp": {"from": 7, "to": 8}})")) == Ids{"tp=7", "tp=8"});
  CHECK(
      ids(plan_of(
          R"("sweep": {"tp": {"from": 9223372036854775806, "to": 9223372036854775807, "times": 3}})")) ==
      Ids{"tp=9223372036854775806"});
  CHECK(ids(plan_of(R"("sweep": {"tp": [1, "1", true, "true", "a b", [2, "x"]]})")) ==
        Ids{"tp=1", "tp=\"1\"", "tp=true", "tp=\"true\"", "tp=\"a b\"", "tp=[2, \"x\"]"});
  CHECK(ids(plan_of(R"("sweep": {"tp": ["8B", "a-b", "1e5", "-", "null"]})")) ==
        Ids{"tp=8B", "tp=a-b", "tp=\"1e5\"", "tp=-", "tp=\"null\""});
}

TEST_CASE("plans: different points have different ids, whatever their texts are") {
  // Without escapes, the second and the third point would have one id.
  CHECK(
      ids(plan_of(R"x("sweep": {"tp": ["1", "1\",mode=\"2"], "mode": ["3", "2\",mode=\"3"]})x")) ==
      Ids{R"(tp="1",mode="3")", R"(tp="1",mode="2\",mode=\"3")", R"(tp="1\",mode=\"2",mode="3")",
          R"(tp="1\",mode=\"2",mode="2\",mode=\"3")"});
  CHECK(ids(plan_of(
            R"("sweep": {"tp": [{"a": [1, null], "b": "x"}, {"a": [1, true]}, [{"c": 1.5}]]})")) ==
        Ids{R"(tp={"a": [1, null], "b": "x"})", R"(tp={"a": [1, true]})", R"(tp=[{"c": 1.5}])"});
  // A message would cut these texts to the same one.
  const std::string same(100, 'x');
  CHECK(ids(plan_of(fmt::format(R"("sweep": {{"tp": ["{0} 1", "{0} 2"]}})", same))) ==
        Ids{fmt::format("tp=\"{} 1\"", same), fmt::format("tp=\"{} 2\"", same)});
}

TEST_CASE("plans: a value that is let replaces a name's sweep") {
  Plan plan = plan_of(kSweep);
  plan.let(0, {int64_t{3}});
  CHECK(ids(plan) == Ids{"tp=3,mode=none", "tp=3,mode=all"});
}

TEST_CASE("plans: an id has no name for which the file has only the point's value") {
  Plan plan = plan_of(R"("sweep": {"tp": [1, 2], "pp": [1], "mode": ["all"]})");
  CHECK(ids(plan) == Ids{"tp=1", "tp=2"});
  plan.let(0, {int64_t{2}});
  plan.let(1, {int64_t{4}});
  CHECK(ids(plan) == Ids{"tp=2,pp=4"});
  CHECK(ids(plan_of(R"("sweep": {"tp": [1], "pp": [2]})")) == Ids{"tp=1,pp=2"});
}

TEST_CASE("plans: a scenario has none of the plan's keys, and terms may have holes") {
  const Plan plan = plan_of(kSweep + R"(,
"constraints": {"peak_memory": {"at_most": "${tp} GiB"}, "makespan": {"at_most_s": 8},
 "devices": {"at_most": "${2 * tp}"}}, "work": {"tokens": "${tp * 1000}"},
"price": {"per_device_hour": "2.${tp}5 USD"}, "minimize": ["cost", "peak_memory"],
"cases": [{"id": "ours", "let": {"mode": "x", "tp": 6}}], "kinds": {"a": "w_*", "b": ["m", "n"]})");
  const std::vector<TemplateValue> values = plan.points()[2];
  CHECK(plan.scenario(values).program.mesh.devices() == 2);
  const PlanTerms terms = plan.terms(values);
  CHECK(terms.constraints.peak_memory == Bytes(int64_t{2} << 30));
  CHECK(terms.constraints.makespan == Duration(8 * kPicosecondsPerSecond));
  CHECK(terms.constraints.devices == 4);
  CHECK(terms.work->unit == "tokens");
  CHECK(terms.work->amount == 2000);
  CHECK(terms.price->micros_per_device_hour == 2'250'000);
  CHECK(terms.price->currency == "USD");
  CHECK(plan.minimize() == std::vector{PlanAxis::Cost, PlanAxis::PeakMemory});
  CHECK(plan.cases().front().id == "ours");
  CHECK(point_id(plan, plan.cases().front().values) == "tp=6,mode=x");
  CHECK(plan.said("work") == R"({"tokens": "${tp * 1000}"})");
  CHECK(plan.said("price") == R"({"per_device_hour": "2.${tp}5 USD"})");
  CHECK_FALSE(plan.said("where"));
  CHECK(plan.kinds()[1].name == "b");
  CHECK(plan.kinds()[1].patterns == std::vector<std::string>{"m", "n"});
}

struct PlanError {
  std::string keys;
  std::string message;
};

TEST_CASE("plans: errors of a plan's own keys") {
  const PlanError errors[] = {
      {R"("sweep": [1])",
       "f:1:11: /sweep: expected an object with the values of each name, got a list"},
      {R"("sweep": {"t p": [1]})",
       "f:1:12: /sweep/t p: expected a name of letters, digits and _ that formulas may use, got "
       "\"t p\""},
      {R"("sweep": {"tp": 1})",
       "f:1:18: /sweep/tp: expected a list of values, or an object with \"from\" and "
       "\"to\", got 1"},
      {R"("sweep": {})", "f:1:11: /sweep: expected at least 1 name, got an object"},
      {R"("sweep": {"tp": []})", "f:1:18: /sweep/tp: expected at least 1 value, got a list"},
      {R"("sweep": {"tp": [1, 2, 1]})",
       "f:1:25: /sweep/tp/2: expected each value once, got 1 again"},
      {R"("sweep": {"tp": ["${n}"]})",
       "f:1:19: /sweep/tp/0: expected a value without holes, got \"${n}\""},
      {R"("sweep": {"tp": {"from": 2, "to": 1}})",
       "f:1:36: /sweep/tp/to: expected a whole number of at least 2, got 1"},
      {R"("sweep": {"tp": {"from": 0, "to": 4, "times": 2}})",
       "f:1:27: /sweep/tp/from: expected a whole number of at least 1, got 0"},
      {R"("sweep": {"tp": {"from": 1, "to": 4, "times": 1}})",
       "f:1:48: /sweep/tp/times: expected a whole number of at least 2, got 1"},
      {R"("sweep": {"tp": {"from": 1, "to": 4, "by": 1}})",
       "f:1:39: /sweep/tp/by: unknown key \"by\"; expected one of \"from\", \"to\", \"times\", "
       "\"step\""},
      {R"("sweep": {"tp": {"from": 1, "to": 65537}})",
       "f:1:18: /sweep/tp: expected at most 65536 values, got more"},
      {kSweep + R"(, "minimize": "time")",
       "f:1:67: /minimize: expected a list of figures, got \"time\""},
      {kSweep + R"(, "minimize": [])", "f:1:67: /minimize: expected at least 1 figure, got a list"},
      {kSweep + R"(, "minimize": ["time"])",
       "f:1:68: /minimize/0: expected \"makespan\", \"devices\", \"peak_memory\" or \"cost\", got "
       "\"time\""},
      {kSweep + R"(, "minimize": ["devices", "devices"])",
       "f:1:79: /minimize/1: expected each figure once, got \"devices\" again"},
      {kSweep + R"(, "minimize": ["cost"])",
       "f:1:68: /minimize/0: expected a \"price\" in the plan, got none"},
      {kSweep + R"(, "cases": {})", "f:1:64: /cases: expected a list of cases, got an object"},
      {kSweep + R"(, "cases": [1])", "f:1:65: /cases/0: expected a case: {\"id\", \"let\"}, got 1"},
      {kSweep + R"(, "cases": [{"id": "a=b", "let": {"tp": 1, "mode": 2}}])",
       "f:1:72: /cases/0/id: expected a name of letters, digits, - and _, got \"a=b\""},
      {kSweep +
           R"(, "cases": [{"id": "a", "let": {"tp": 1, "mode": 2}}, {"id": "a", "let": {"tp": 1, "mode": 2}}])",
       "f:1:114: /cases/1/id: expected another name for each case, got \"a\""},
      {kSweep + R"(, "cases": [{"id": "a", "let": [1]}])",
       "f:1:84: /cases/0/let: expected an object with a value for each name, got a list"},
      {kSweep + R"(, "cases": [{"id": "a", "let": {"tp": 1}}])",
       "f:1:84: /cases/0/let: missing key \"mode\""},
      {kSweep + R"(, "kinds": ["w"])",
       "f:1:64: /kinds: expected an object with patterns of names for each kind, got a list"},
      {kSweep + R"(, "kinds": {"w": 1})",
       "f:1:70: /kinds/w: expected a pattern of names or a list of them, got 1"},
      {kSweep + R"(, "kinds": {"": "w_*"})",
       "f:1:65: /kinds/: expected the name of a kind as key, got \"\""},
      {kSweep + R"(, "work": {"tokens": "${n}"})",
       "f:1:74: /work/tokens: \"n\": expected one of tp, mode, got \"n\""},
      {kSweep + R"(, "swept": 1)",
       "f:1:55: /swept: unknown key \"swept\"; did you mean \"sweep\"?"},
  };
  for (const PlanError& each : errors) {
    CAPTURE(each.keys);
    CHECK(error_of([&] { (void)plan_of(each.keys); }) == each.message);
  }
  CHECK(error_of([] { (void)Plan("f", "[]"); }) == "f:1:1: expected a plan, an object, got a list");
}

TEST_CASE("plans: errors of the terms of a point") {
  const PlanError errors[] = {
      {R"("constraints": 1)", "f:1:70: /constraints: expected an object of constraints, got 1"},
      {R"("constraints": {"devices": 8})",
       "f:1:82: /constraints/devices: expected an object with \"at_most\", got 8"},
      {R"("constraints": {"devices": {"at_most": 0}})",
       "f:1:94: /constraints/devices/at_most: expected a number of devices of at least 1, got 0"},
      {R"("constraints": {"makespan": {"at_most": "8 GiB"}})",
       "f:1:95: /constraints/makespan/at_most: expected a time such as \"1 us\", got \"8 GiB\""},
      {R"("constraints": {"cost": {"at_most": 1}})",
       "f:1:71: /constraints/cost: unknown key \"cost\"; expected one of \"peak_memory\", "
       "\"makespan\", \"devices\""},
      {R"("work": {})",
       "f:1:63: /work: expected an object with one number, such as {\"tokens\": 4096}, got an "
       "object"},
      {R"("work": {"tokens": 0})",
       "f:1:74: /work/tokens: expected a number of tokens of at least 1, got 0"},
      {R"("price": 2)", "f:1:64: /price: expected an object with \"per_device_hour\", got 2"},
      {R"("price": {"per_device_hour": "2 dollars a day"})",
       "f:1:84: /price/per_device_hour: expected a price such as \"2.10 USD\", up to "
       "9223372036854.775807 with at most 6 decimals and a currency of ASCII letters, got \"2 "
       "dollars a day\""},
      // A millionth more than 2^63 - 1 millionths.
      {R"("price": {"per_device_hour": "9223372036854.775808 USD"})",
       "f:1:84: /price/per_device_hour: expected a price such as \"2.10 USD\", up to "
       "9223372036854.775807 with at most 6 decimals and a currency of ASCII letters, got "
       "\"9223372036854.775808 USD\""},
      {R"("price": {"per_device_hour": 2})",
       "f:1:84: /price/per_device_hour: expected a price such as \"2.10 USD\", up to "
       "9223372036854.775807 with at most 6 decimals and a currency of ASCII letters, got 2"},
  };
  for (const PlanError& each : errors) {
    CAPTURE(each.keys);
    CHECK(error_of([&] { (void)plan_of(kSweep + ", " + each.keys); }) == each.message);
    // A hole elsewhere in the terms changes nothing.
    CHECK(error_of([&] {
            (void)plan_of(kSweep + ", " + each.keys +
                          (each.keys.starts_with("\"work\"")
                               ? R"(, "price": {"per_device_hour": "${tp} USD"})"
                               : R"(, "work": {"tokens": "${tp}"})"));
          }) == each.message);
  }
  // The values of a hole are read for each point.
  const Plan plan = plan_of(
      kSweep +
      R"(, "constraints": {"devices": {"at_most": "${tp - 1}"}, "makespan": {"at_most_s": "${tp}"}})");
  CHECK(error_of([&] { (void)plan.terms(plan.points().front()); }) ==
        "f:1:94: /constraints/devices/at_most: expected a number of devices of at least 1, got 0");
  CHECK(error_of([&] { (void)plan.terms(plan.points().back()); }) == "");
  CHECK(
      error_of([] {
        (void)plan_of(
            kSweep +
            R"(, "constraints": {"devices": {"at_most": "${tp}"}, "makespan": {"at_most": "8 GiB"}})");
      }) ==
      "f:1:128: /constraints/makespan/at_most: expected a time such as \"1 us\", got \"8 GiB\"");
  CHECK(error_of([] {
          (void)plan_of(kSweep + R"(, "work": {"": 1}, "constraints": {"devices": 1})");
        }) ==
        "f:1:63: /work: expected an object with one number, such as {\"tokens\": 4096}, got an "
        "object\n"
        "f:1:99: /constraints/devices: expected an object with \"at_most\", got 1");
}

TEST_CASE("plans: unknown keys of terms are named beside the missing ones") {
  const PlanError errors[] = {
      {R"("constraints": {"devices": {"at_least": 8}})",
       "f:1:82: /constraints/devices: missing key \"at_most\"\n"
       "f:1:83: /constraints/devices/at_least: unknown key \"at_least\"; expected one of "
       "\"at_most\""},
      {R"("constraints": {"peak_memory": {"at_least": "${tp} GiB"}})",
       "f:1:86: /constraints/peak_memory: missing key \"at_most\"\n"
       "f:1:87: /constraints/peak_memory/at_least: unknown key \"at_least\"; expected one of "
       "\"at_most\""},
      {R"("price": {"per_hour": "${tp} USD"})",
       "f:1:64: /price: missing key \"per_device_hour\"\n"
       "f:1:65: /price/per_hour: unknown key \"per_hour\"; expected one of \"per_device_hour\""},
  };
  for (const PlanError& each : errors)
    CHECK(error_of([&] { (void)plan_of(kSweep + ", " + each.keys); }) == each.message);
}

TEST_CASE("plans: a plan of more points than the limit is refused before they are made") {
  Limits limits;
  limits.points = 5;
  CHECK(error_of([&] { (void)plan_of(kSweep, limits).points(); }) ==
        "f:1:11: /sweep: expected at most 5 points of a plan, got 6 (--limit points=N allows "
        "more)");
  CHECK(
      error_of([&] {
        const std::string many = R"({"from": 1, "to": 60000})";
        (void)plan_of(
            fmt::format(R"("sweep": {{"tp": {0}, "a": {0}, "b": {0}, "c": {0}, "d": {0}}})", many))
            .points();
      }) ==
      "f:1:11: /sweep: expected at most 100000 points of a plan, got more (--limit points=N allows "
      "more)");
  limits.points = 6;
  CHECK(plan_of(kSweep, limits).points().size() == 6);
}

TEST_CASE("plans: a text is a plan if it is an object with sweep") {
  CHECK(is_plan(plan_with(kSweep), {}));
  CHECK_FALSE(is_plan(R"({"mesh": {"sweep": 2}})", {}));
  CHECK_FALSE(is_plan(R"({"forall": {}})", {}));
}

TEST_CASE("plans: stars of a pattern stand for any characters") {
  CHECK(matches("w_up", "w_*"));
  CHECK(matches("w_", "w_*"));
  CHECK_FALSE(matches("w", "w_*"));
  CHECK(matches("", "*"));
  CHECK(matches("abcbc", "a*bc"));
  CHECK_FALSE(matches("abcb", "a*bc"));
  CHECK(matches("m.layer.up", "*.layer.*"));
  CHECK_FALSE(matches("up", "u"));
  CHECK(matches("up", "*u*p*"));
  CHECK_FALSE(matches(std::string(1000, 'a'), "*a*a*a*a*a*a*a*a*a*a*a*b"));
}

}  // namespace
}  // namespace orrery
