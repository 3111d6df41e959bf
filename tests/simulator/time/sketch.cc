#include "tests/simulator/time/sketch.h"

#include <numeric>
#include <string>

namespace orrery::test {

Fabric gigabyte_fabric(uint32_t devices) {
  return fully_connected_fabric(devices, {BytesPerSecond(1'000'000'000), Duration(1'000'000)});
}

Sketch::Sketch(uint32_t devices) {
  program.mesh = Mesh({{"x", devices}});
  std::vector<uint32_t> all(devices);
  std::iota(all.begin(), all.end(), 0U);
  thread(std::move(all));
}

void Sketch::thread(std::vector<uint32_t> devices) {
  if (program.ops.empty() && program.threads.size() == 1 &&
      program.threads[0].devices.size() == program.mesh.devices()) {
    program.threads.clear();
  }
  thread_ = program.threads.size();
  Thread thread;
  for (const uint32_t device : devices)
    thread.devices.emplace_back(device);
  program.threads.push_back(std::move(thread));
  make_tapes();
}

void Sketch::make_tapes() {
  lowered.iterations = std::make_shared<const Iterations>(program);
  lowered.tapes.clear();
  for (const Thread& thread : program.threads)
    lowered.tapes.emplace_back(program, thread, lowered.iterations);
}

OpId Sketch::op(OpKind kind) {
  const OpId id(program.ops.size());
  Op op;
  op.name = "op" + std::to_string(id.index());
  op.kind = kind;
  program.ops.push_back(std::move(op));
  program.threads[thread_].issue_order.push_back(id);
  lowered.local.emplace_back();
  return id;
}

OpId Sketch::local(int64_t picoseconds) {
  op(OpKind::Compute);
  lowered.local.back().common = Duration(picoseconds);
  make_tapes();
  return OpId(program.ops.size() - 1);
}

SiteId Sketch::site(std::vector<std::vector<uint32_t>> groups,
                    std::unique_ptr<const Schedule> schedule, uint32_t stream, Dtype dtype) {
  const SiteId id(program.sites.size());
  Site site;
  site.name = "site" + std::to_string(id.index());
  for (const std::vector<uint32_t>& group : groups) {
    Collective collective;
    collective.site = id;
    collective.work = {dtype};
    collective.schedule = schedule.get();
    collective.stream = StreamId(stream);
    collective.figures = figures_;
    Group members;
    std::vector<VertexId> vertices;
    for (const uint32_t device : group) {
      members.emplace_back(device);
      vertices.emplace_back(device);
    }
    vertices.insert(vertices.end(), collective.schedule->extent().switch_nodes,
                    VertexId(program.mesh.devices()));
    collective.members = members;
    collective.vertices = std::move(vertices);
    site.groups.push_back(std::move(members));
    lowered.collectives.push_back(std::move(collective));
  }
  program.sites.push_back(std::move(site));
  lowered.schedules.push_back(std::move(schedule));
  lowered.members = members_by_site(lowered, program.sites.size());
  return id;
}

SiteId Sketch::site(std::unique_ptr<const Schedule> schedule, uint32_t stream, Dtype dtype) {
  std::vector<uint32_t> all(program.mesh.devices());
  std::iota(all.begin(), all.end(), 0U);
  return site({all}, std::move(schedule), stream, dtype);
}

void Sketch::figures(const CollectiveFigures& figures) {
  figures_ = figures;
  for (Collective& collective : lowered.collectives)
    collective.figures = figures;
}

void Sketch::launch(Duration launch) {
  CollectiveFigures changed = figures_;
  changed.launch = launch;
  figures(changed);
}

void Sketch::reduce_rate(BytesPerSecond rate) {
  CollectiveFigures changed = figures_;
  changed.rates.reduce = rate;
  figures(changed);
}

void Sketch::figures(SiteId site, const CollectiveFigures& figures) {
  for (Collective& collective : lowered.collectives)
    if (collective.site == site)
      collective.figures = figures;
}

OpId Sketch::enter(SiteId site, Issue issue) {
  const OpId id = op(OpKind::Psum);
  Op& entering = program.ops.back();
  entering.issue = issue;
  entering.site = site;
  entering.results = {ValueId(program.values.size())};
  program.values.emplace_back();
  for (const Collective& collective : lowered.collectives)
    if (collective.site == site)
      entering.hints.stream = collective.stream.index();
  program.sites[site.index()].ops.push_back(id);
  make_tapes();
  return id;
}

OpId Sketch::start(SiteId site) {
  return enter(site, Issue::Start);
}

OpId Sketch::sync(SiteId site) {
  return enter(site, Issue::Sync);
}

OpId Sketch::done(OpId start) {
  const OpId id = op(OpKind::Done);
  program.ops.back().operands = program.op(start).results;
  make_tapes();
  return id;
}

std::unique_ptr<const Schedule> flows(uint32_t nodes, const std::vector<Flow>& flows) {
  StoredSteps steps(nodes, std::vector<std::vector<Step>>(flows.size()));
  std::vector<StoredSchedule::Message> messages;
  for (uint32_t f = 0; f < flows.size(); ++f) {
    const Flow& flow = flows[f];
    Step send;
    send.to = Node(flow.to);
    send.source = Slice{Area::Input, 0, flow.elements};
    steps[flow.from][f].push_back(send);
    Step receive;
    receive.from = Node(flow.from);
    receive.target = Slice{Area::Output, 0, flow.elements};
    steps[flow.to][f].push_back(receive);
    messages.push_back({{Node(flow.from), Channel(f), 0}, {Node(flow.to), Channel(f), 0}});
  }
  return std::make_unique<StoredSchedule>(Extent{}, std::move(steps), std::move(messages));
}

}  // namespace orrery::test
