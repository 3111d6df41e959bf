#include "simulator/schedule/program_walk.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "simulator/algorithm/ring.h"

namespace orrery {
namespace {

/// A `Scene` is a lowered program written by hand. Every collective is an all-gather over all
/// devices, and step 1 of each channel ends it.
struct Scene {
  explicit Scene(uint32_t devices, uint32_t sites) {
    program.mesh = Mesh({{"x", devices}});
    ring = std::make_unique<RingSchedule>(RingSchedule::Form::AllGather, devices, devices,
                                          Combine::None, Transport{});
    for (uint32_t s = 0; s < sites; ++s) {
      program.sites.push_back({});
      Collective collective;
      collective.site = SiteId(s);
      collective.schedule = ring.get();
      Group group;
      for (uint32_t d = 0; d < devices; ++d)
        group.emplace_back(d);
      collective.members = group;
      lowered.collectives.push_back(collective);
    }
    lowered.members = members_by_site(lowered, sites);
  }

  /// Adds a thread. In the tape, "a" is a local op, "+0" starts the collective of site 0, and "-0"
  /// waits for its end.
  void thread(std::vector<LogicalId> devices, const std::string& tape) {
    program.threads.push_back({"", std::move(devices), {}});
    std::map<size_t, ValueId> futures;  // by site
    for (size_t i = 0; i < tape.size(); ++i) {
      const OpId id(program.ops.size());
      Op& op = program.ops.emplace_back();
      program.threads.back().issue_order.push_back(id);
      op.kind = OpKind::Add;
      if (tape[i] == 'a')
        continue;
      const bool starts = tape[i] == '+';
      const auto site = static_cast<size_t>(tape[++i] - '0');
      if (!starts) {
        op.kind = OpKind::Done;
        op.operands = {futures.at(site)};
        continue;
      }
      op.kind = OpKind::AllGather;
      op.issue = Issue::Start;
      op.site = SiteId(site);
      op.hints.stream = lowered.collectives[site].stream.index();
      op.results = {ValueId(program.values.size())};
      futures.emplace(site, op.results.front());
      program.values.emplace_back();
      program.sites[site].ops.push_back(id);
    }
    lowered.iterations = std::make_shared<const Iterations>(program);
    lowered.tapes.clear();
    for (const Thread& each : program.threads)
      lowered.tapes.emplace_back(program, each, lowered.iterations);
  }

  void on_stream(uint32_t site, uint32_t stream) {
    lowered.collectives[site].stream = StreamId(stream);
  }

  Program program;
  Lowered lowered;
  std::unique_ptr<RingSchedule> ring;
};

/// A `Log` has the acts of each device, in order: "+" enters, "-" exits, "." passes a done.
struct Log {
  void local(OpRun, LogicalId device) { add(device.index(), "a"); }
  void issue(CollectiveRun, Node, OpRun) {}
  void done(OpRun, LogicalId device) { add(device.index(), "."); }
  void enter(CollectiveRun run, Node node, OpRun) {
    add(node.index(), fmt::format("+{}", run.collective.index()));
  }
  void receive(CollectiveRun, StepRef, const Step&) {}
  void send(CollectiveRun, StepRef, const Step&) {}
  void exit(CollectiveRun run, Node node, OpRun) {
    add(node.index(), fmt::format("-{}", run.collective.index()));
  }
  void add(uint32_t device, const std::string& what) {
    if (lines.size() <= device)
      lines.resize(device + 1);
    lines[device] += what;
  }
  std::vector<std::string> lines;
};

TEST_CASE("program walk: a device runs on after a start, and stops at the done") {
  Scene scene(2, 1);
  scene.thread({LogicalId(0), LogicalId(1)}, "a+0a-0a");
  Log log;
  CHECK(walk(scene.program, scene.lowered, log).finished());
  // The local op between start and done runs before the collective can end, the last one after it.
  CHECK(log.lines == std::vector<std::string>{"a+0a-0.a", "a+0a-0.a"});
}

TEST_CASE("program walk: a stream enters its collectives one after the other") {
  Scene scene(2, 2);
  scene.thread({LogicalId(0), LogicalId(1)}, "+0+1a-1-0");
  Log log;
  CHECK(walk(scene.program, scene.lowered, log).finished());
  CHECK(log.lines == std::vector<std::string>{"+0a-0+1-1..", "+0a-0+1-1.."});
}

TEST_CASE("program walk: two streams enter side by side") {
  Scene scene(2, 2);
  scene.on_stream(1, 1);
  scene.thread({LogicalId(0), LogicalId(1)}, "+0+1-0-1");
  Log log;
  CHECK(walk(scene.program, scene.lowered, log).finished());
  for (const std::string& line : log.lines)
    CHECK(line.substr(0, 4) == "+0+1");
}

TEST_CASE("program walk: what nothing waits for must end too, or the program is not finished") {
  Scene scene(2, 2);
  scene.thread({LogicalId(0)}, "+0+1");
  scene.thread({LogicalId(1)}, "+1+0");
  Log log;
  const Stop stop = walk(scene.program, scene.lowered, log);
  CHECK_FALSE(stop.finished());
  CHECK(stop.waiting().empty());
  CHECK(stop.collectives.size() == 2);
}

TEST_CASE("program walk: threads that enter two sites in different orders hang") {
  Scene scene(2, 2);
  scene.thread({LogicalId(0)}, "+0-0+1-1");
  scene.thread({LogicalId(1)}, "+1-1+0-0");
  Log log;
  const Stop stop = walk(scene.program, scene.lowered, log);
  CHECK_FALSE(stop.finished());
  REQUIRE(stop.waiting() == std::vector<ListId>{ListId(0), ListId(1)});
  for (const uint32_t d : {0U, 1U}) {
    CHECK((*stop.lists)[ListId(d)].device == LogicalId(d));
    CHECK(stop.progress.next(ListId(d)) == 1);
    const Member waits_for = stop.lists->member({ListId(d), 0});
    CHECK(waits_for.collective == CollectiveId(d));
    CHECK(waits_for.node == Node(d));
  }
  REQUIRE(stop.collectives.size() == 2);
  for (const uint32_t c : {0U, 1U}) {
    CHECK(stop.collectives[c].run == CollectiveRun{CollectiveId(c), 0});
    CHECK_FALSE(stop.progress.happened(ListId(1 - c), {MomentKind::Entered, 2}));
    // The device that entered has sent, and waits for a message from the device that has not
    // entered.
    REQUIRE(stop.collectives[c].parked.size() == 1);
    CHECK(stop.collectives[c].parked[0].half.step == StepRef{Node(c), Channel(0), 1});
    CHECK(stop.collectives[c].parked[0].cause.kind == CauseKind::Message);
  }
}

TEST_CASE("program walk: the same two orders on streams of their own do not hang") {
  Scene scene(2, 2);
  scene.on_stream(1, 1);
  scene.thread({LogicalId(0)}, "+0+1-0-1");
  scene.thread({LogicalId(1)}, "+1+0-1-0");
  Log log;
  CHECK(walk(scene.program, scene.lowered, log).finished());
}

TEST_CASE("program walk: different orders of starts on one stream hang") {
  Scene scene(2, 2);
  scene.thread({LogicalId(0)}, "+0+1-0-1");
  scene.thread({LogicalId(1)}, "+1+0-1-0");
  Log log;
  const Stop stop = walk(scene.program, scene.lowered, log);
  REQUIRE(stop.waiting() == std::vector<ListId>{ListId(0), ListId(1)});
  CHECK(stop.progress.next(ListId(0)) == 2);
  CHECK(stop.progress.next(ListId(1)) == 2);
}

TEST_CASE("program walk: a collective that cannot end is reported even if nothing waits for it") {
  Scene scene(2, 1);
  scene.thread({LogicalId(0)}, "+0");
  scene.thread({LogicalId(1)}, "a");
  Log log;
  const Stop stop = walk(scene.program, scene.lowered, log);
  CHECK(stop.waiting().empty());
  REQUIRE(stop.collectives.size() == 1);
  REQUIRE(stop.collectives[0].parked.size() == 1);
  CHECK(stop.collectives[0].parked[0].cause.step.node == Node(1));
}

TEST_CASE("program walk: devices without a thread take no part") {
  Scene scene(2, 0);
  scene.thread({LogicalId(1)}, "a");
  Log log;
  CHECK(walk(scene.program, scene.lowered, log).finished());
  CHECK(log.lines == std::vector<std::string>{"", "a"});
}

}  // namespace
}  // namespace orrery
