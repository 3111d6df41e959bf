#include "models/program/rules.h"

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/models/program/lists.h"

namespace orrery {
namespace {

TEST_CASE("rules: each kind finds its own") {
  for (const OpRules& entry : all_rules())
    CHECK(&rules(entry.kind) == &entry);
}

TEST_CASE("rules: every name reads back as its kind, and a start as a start") {
  for (const OpRules& entry : all_rules()) {
    CAPTURE(entry.name);
    const auto sync = op_named(entry.name);
    REQUIRE(sync.has_value());
    CHECK(sync->kind == entry.kind);
    CHECK(sync->issue == Issue::Sync);
    const auto start = op_named(op_name(entry.kind, Issue::Start));
    CHECK(start.has_value() == (entry.family == Family::Collective));
    if (start)
      CHECK((start->kind == entry.kind && start->issue == Issue::Start));
  }
}

TEST_CASE("rules: unknown names are refused") {
  CHECK_FALSE(op_named("pmedian").has_value());
  CHECK_FALSE(op_named("_start").has_value());
  CHECK_FALSE(op_named("psum_start_start").has_value());
}

TEST_CASE("rules: reductions to all ranks are timed as psum, and exchanges as those they are") {
  std::string timed;
  for (const OpRules& entry : all_rules())
    if (entry.family == Family::Collective)
      timed += fmt::format("{} as {}, ", entry.name, rules(timed_as(entry.kind)).name);
  CHECK(timed ==
        "psum as psum, pmean as psum, pmax as psum, pmin as psum, pargmax as psum, "
        "pargmin as psum, all_gather as all_gather, psum_scatter as psum_scatter, "
        "all_to_all as all_to_all, pswapaxes as all_to_all, ppermute as ppermute, "
        "pshuffle as ppermute, pbroadcast as pbroadcast, ragged_all_to_all as all_to_all, "
        "psend as ppermute, precv as ppermute, "
        "unreduced_psum as psum, "
        "unreduced_psum_scatter as psum_scatter, all_gather_invariant as all_gather, "
        "all_gather_reduced as all_gather, ");
}

TEST_CASE("rules: the ops by which tables have times") {
  const std::vector<std::string_view> ops = {"psum",       "all_gather", "psum_scatter",
                                             "all_to_all", "ppermute",   "pbroadcast"};
  CHECK(timed_ops() == ops);
}

TEST_CASE("rules: every collective has the parameters of all, but for the halves of a transfer") {
  for (const OpRules& entry : all_rules()) {
    if (entry.family != Family::Collective)
      continue;
    CAPTURE(entry.name);
    std::set<std::string_view> names;
    for (const Parameter& parameter : entry.parameters)
      CHECK(names.insert(parameter.name).second);
    for (const char* shared : {"axis_name", "stream"})
      CHECK(names.count(shared) == 1);
    CHECK(names.count("axis_index_groups") == (entry.form.side == Side::Both ? 1 : 0));
    for (const char* of_messages : {"algorithm", "channels", "protocol", "slots", "entry"})
      CHECK(names.count(of_messages) == (entry.form.side == Side::Receives ? 0 : 1));
  }
}

TEST_CASE("rules: the default of an optional parameter has its kind and lies within its limits") {
  for (const OpRules& entry : all_rules()) {
    for (const Parameter& parameter : entry.parameters) {
      CAPTURE(entry.name);
      CAPTURE(parameter.name);
      if (!parameter.otherwise)
        continue;
      CHECK(parameter.need == Parameter::Need::Optional);
      CHECK(holds(*parameter.otherwise, parameter.kind));
      if (parameter.least)
        CHECK(std::get<int64_t>(*parameter.otherwise) >= *parameter.least);
    }
  }
}

TEST_CASE("rules: local ops have a cost and a value, the others none") {
  for (const OpRules& entry : all_rules()) {
    CAPTURE(entry.name);
    CHECK((entry.cost != nullptr) == (entry.family == Family::Local));
    CHECK(((entry.evaluate != nullptr) != (entry.body != nullptr)) ==
          (entry.family == Family::Local));
    CHECK((entry.type != nullptr));
  }
}

TEST_CASE("rules: only local ops have several results, and no scratch of their own") {
  for (const OpRules& entry : all_rules()) {
    if (entry.family == Family::Local)
      continue;
    CAPTURE(entry.name);
    CHECK(entry.most_results == 1);
    CHECK(entry.memory(Attributes(), {}, {}).scratch == Bytes());
  }
}

TEST_CASE("parameter kinds: dimension numbers are four lists") {
  CHECK(holds(test::Lists{{1}, {0}, {}, {}}, ParameterKind::DimensionNumbers));
  CHECK_FALSE(holds(test::Lists{{1}, {0}}, ParameterKind::DimensionNumbers));
  CHECK_FALSE(holds(int64_t{1}, ParameterKind::Number));
}

}  // namespace
}  // namespace orrery
