// Tests the proofs that a program needs, and how many are computed.

#include "verifier/prove/prover.h"

#include <doctest/doctest.h>

#include "tests/simulator/values/host_rig.h"

using namespace orrery;
using namespace orrery::test;

namespace {

/// A `Shared` is a rig of `sites` psums over 4 devices, all with one schedule object.
struct Shared {
  explicit Shared(size_t sites) : rig({{"x", 4}}) {
    rig.argument("a", std::vector<Numbers>(4, Numbers{1, 2, 3, 4}));
    for (size_t s = 0; s < sites; ++s)
      rig.op("psum", "r" + std::to_string(s), {"a"},
             {{"axis_name", Names{"x"}}, {"algorithm", std::string("ring")}});
    rig.lower();
    for (Collective& collective : rig.lowered.collectives)
      collective.schedule = rig.lowered.collectives.front().schedule;
  }
  HostRig rig;
};

}  // namespace

TEST_CASE("prover: sites with one schedule, the same views and the same op are proved once") {
  const Shared shared(50);
  Prover prover(shared.rig.program, shared.rig.lowered);
  for (size_t s = 0; s < 50; ++s) {
    const Check check = std::get<Check>(prover.prove_site(SiteId(s)));
    CHECK(check.holds());
    CHECK(check.message == "\"r" + std::to_string(s) + "\" by ring is psum for all inputs.");
  }
  CHECK(prover.walks() == 1);
  CHECK(prover.proofs() == 1);
}

TEST_CASE("prover: another op on the same schedule needs another proof of the same walk") {
  HostRig rig({{"x", 4}});
  rig.argument("a", std::vector<Numbers>(4, Numbers{1, 2, 3, 4}));
  for (const char* const kind : {"psum", "pmax"})
    rig.op(kind, kind, {"a"}, {{"axis_name", Names{"x"}}, {"algorithm", std::string("ring")}});
  rig.lower();
  for (Collective& collective : rig.lowered.collectives)
    collective.schedule = rig.lowered.collectives.front().schedule;
  Prover prover(rig.program, rig.lowered);
  CHECK(std::get<Check>(prover.prove_site(SiteId(0))).holds());
  CHECK(std::get<Check>(prover.prove_site(SiteId(1))).verdict ==
        Verdict::Fails);  // a sum is not a maximum
  CHECK(prover.walks() == 1);
  CHECK(prover.proofs() == 2);
}

TEST_CASE("prover: other views of the same schedule need another proof of the same walk") {
  Shared shared(2);
  shared.rig.lowered.collectives[1].input = View{{2, 2}, {1, 2}};
  Prover prover(shared.rig.program, shared.rig.lowered);
  CHECK(std::get<Check>(prover.prove_site(SiteId(0))).holds());
  CHECK(std::get<Check>(prover.prove_site(SiteId(1))).verdict == Verdict::Fails);
  CHECK(prover.walks() == 1);
  CHECK(prover.proofs() == 2);
}

TEST_CASE("prover: a proof stops one piece above the budget, and not before") {
  const Shared shared(1);
  const Schedule& schedule = *shared.rig.lowered.collectives.front().schedule;
  const Traced traced = trace(schedule, whole_areas(schedule.extent()));
  // Each rank's result is compared in 4 chunks, of one fold each.
  const uint64_t pieces = traced.run.pieces + 4 * 4;
  const auto proved_with = [&](uint64_t budget) {
    Prover prover(shared.rig.program, shared.rig.lowered, {kUnlimited, budget});
    return std::holds_alternative<Check>(prover.prove_site(SiteId(0)));
  };
  CHECK(proved_with(pieces));
  CHECK_FALSE(proved_with(pieces - 1));
  CHECK_FALSE(proved_with(traced.run.pieces - 1));
  CHECK_FALSE(proved_with(0));
}

TEST_CASE("prover: a proof over the budget is not tried again") {
  const Shared shared(2);
  Prover prover(shared.rig.program, shared.rig.lowered, {kUnlimited, 3});
  CHECK(std::get<NotProved>(prover.prove_site(SiteId(0))) == NotProved::TooManyPieces);
  CHECK(std::get<NotProved>(prover.prove_site(SiteId(1))) == NotProved::TooManyPieces);
  CHECK(prover.walks() == 1);
  CHECK(prover.proofs() == 1);
}

TEST_CASE("prover: races are searched without a walk that follows folds, and once") {
  HostRig rig({{"x", 4}});
  rig.argument("a", std::vector<Numbers>(4, Numbers{1, 2, 3, 4, 5, 6, 7, 8}));
  rig.op("psum", "r", {"a"},
         {{"axis_name", Names{"x"}}, {"algorithm", std::string("ring")}, {"channels", int64_t{2}}});
  rig.lower();
  // The budget of proofs does not limit the search.
  Prover prover(rig.program, rig.lowered, {0, 0}, {kUnlimited, kUnlimited});
  CHECK_FALSE(std::get<std::optional<StepRace>>(prover.races(SiteId(0))));
  CHECK(prover.walks() == 0);
  CHECK(std::get<NotProved>(prover.prove_site(SiteId(0))) == NotProved::TooManySteps);
  CHECK(prover.searches() == 1);
  Prover both(rig.program, rig.lowered);
  CHECK_FALSE(std::get<std::optional<StepRace>>(both.races(SiteId(0))));
  CHECK(std::get<Check>(both.prove_site(SiteId(0))).holds());
  CHECK(both.searches() == 1);
  Prover neither(rig.program, rig.lowered, {}, {0, 0});
  CHECK(std::get<NotProved>(neither.races(SiteId(0))) == NotProved::TooManySteps);
}

TEST_CASE("prover: what an earlier prover knows of a schedule is not found again") {
  const Shared shared(1);
  const auto known = std::make_shared<KnownSchedules>();
  for (int i = 0; i < 2; ++i) {
    Prover prover(shared.rig.program, shared.rig.lowered, {}, {}, known);
    CHECK(std::get<Check>(prover.prove_site(SiteId(0))).holds());
    CHECK(prover.walks() == 1);
  }
  Prover other(shared.rig.program, shared.rig.lowered, {kUnlimited, 3}, {}, known);
  CHECK(std::get<NotProved>(other.prove_site(SiteId(0))) == NotProved::TooManyPieces);
  CHECK(other.walks() == 2);
}

TEST_CASE("prover: a proof serves another program with the same question, and no other question") {
  const auto known = std::make_shared<KnownSchedules>();
  const Shared kept(1);  // has the schedule
  const Schedule* const schedule = kept.rig.lowered.collectives.front().schedule;
  const auto prove = [&](const char* kind) {
    HostRig rig({{"x", 4}});
    rig.argument("a", std::vector<Numbers>(4, Numbers{1, 2, 3, 4}));
    rig.op(kind, "r", {"a"}, {{"axis_name", Names{"x"}}, {"algorithm", std::string("ring")}});
    rig.lower();
    rig.lowered.collectives.front().schedule = schedule;
    Prover prover(rig.program, rig.lowered, {}, {}, known);
    const bool holds = std::get<Check>(prover.prove_site(SiteId(0))).holds();
    return std::pair(holds, prover.proofs());
  };
  // The program of each is gone before the next is made.
  CHECK(prove("psum") == std::pair(true, size_t{1}));
  CHECK(prove("psum") == std::pair(true, size_t{1}));
  CHECK(prove("pmax") == std::pair(false, size_t{2}));
  CHECK(prove("psum") == std::pair(true, size_t{2}));
}
