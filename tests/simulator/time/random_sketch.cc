#include "tests/simulator/time/random_sketch.h"

#include <algorithm>
#include <numeric>

#include "models/base/random.h"
#include "simulator/algorithm/algorithms.h"
#include "simulator/algorithm/bruck.h"
#include "simulator/algorithm/chain.h"
#include "simulator/algorithm/direct.h"
#include "simulator/algorithm/halving_doubling.h"
#include "simulator/algorithm/in_switch.h"
#include "simulator/algorithm/one_shot.h"
#include "simulator/algorithm/pairwise.h"
#include "simulator/algorithm/pat.h"
#include "simulator/algorithm/recursive_doubling.h"
#include "simulator/algorithm/ring.h"
#include "simulator/algorithm/tree.h"
#include "simulator/schedule/program_walk.h"
#include "simulator/schedule/walk.h"
#include "tests/simulator/schedule/stored_copy.h"

namespace orrery::test {
namespace {

constexpr int64_t kLeastBandwidth = 1'000'000'000;

Link random_link(Random& random, uint32_t from, uint32_t to) {
  const BytesPerSecond bandwidth(random.between(kLeastBandwidth, 100 * kLeastBandwidth));
  const Duration latency(random.below(4) == 0 ? 0 : random.between(1, 2'000'000));
  return {VertexId(from), VertexId(to), bandwidth, latency};
}

Fabric random_fabric(Random& random, uint32_t devices) {
  std::vector<Link> links;
  const uint64_t topology = random.below(3);
  if (topology == 0) {
    for (uint32_t d = 0; d < devices; ++d) {
      links.push_back(random_link(random, d, (d + 1) % devices));
      if (devices > 2)
        links.push_back(random_link(random, (d + 1) % devices, d));
    }
    return Fabric(devices, {}, std::move(links));
  }
  if (topology == 1) {
    for (uint32_t from = 0; from < devices; ++from)
      for (uint32_t to = 0; to < devices; ++to)
        if (from != to)
          links.push_back(random_link(random, from, to));
    return Fabric(devices, {}, std::move(links));
  }
  for (uint32_t d = 0; d < devices; ++d) {
    links.push_back(random_link(random, d, devices));
    links.push_back(random_link(random, devices, d));
  }
  return Fabric(devices, {"switch"}, std::move(links));
}

/// Returns a schedule in which nodes send along random permutations, one after the other on one
/// channel. Messages are uneven, and some nodes do not take part.
std::unique_ptr<const Schedule> random_permutes(Random& random, uint32_t nodes) {
  StoredSteps steps(nodes, std::vector<std::vector<Step>>(1));
  const uint64_t rounds = random.below(4) + 1;
  for (uint64_t round = 0; round < rounds; ++round) {
    std::vector<uint32_t> to(nodes);
    std::iota(to.begin(), to.end(), 0U);
    for (size_t i = nodes; i > 1; --i)
      std::swap(to[i - 1], to[random.below(i)]);
    std::vector<int64_t> counts;
    for (uint32_t n = 0; n < nodes; ++n)
      counts.push_back(random.below(5) == 0 ? 0 : random.between(1, 20'000));
    for (uint32_t n = 0; n < nodes; ++n) {
      if (to[n] == n)
        continue;
      Step send;
      send.to = Node(to[n]);
      send.source = Slice{Area::Input, 0, counts[n]};
      steps[n][0].push_back(send);
    }
    for (uint32_t n = 0; n < nodes; ++n) {
      if (to[n] == n)
        continue;
      Step receive;
      receive.from = Node(n);
      receive.target = Slice{Area::Output, 0, counts[n]};
      if (random.below(2) == 0) {
        receive.source = Slice{Area::Input, 0, counts[n]};
        receive.combine = Combine::Add;
      }
      steps[to[n]][0].push_back(receive);
    }
  }
  auto messages = match_by_channel(steps);
  return std::make_unique<StoredSchedule>(Extent{}, std::move(steps), std::move(messages));
}

/// Returns a cap of each channel that leaves room for others.
std::optional<BytesPerSecond> random_cap(Random& random, uint32_t nodes, RandomKind kind) {
  if (!kind.capped && random.below(2) == 0)
    return std::nullopt;
  return BytesPerSecond(kLeastBandwidth / (4 * int64_t{nodes}));
}

/// Returns how messages are passed: without a protocol, or by one with figures of all kinds.
MessageFigures random_messages(Random& random, uint32_t nodes, RandomKind kind) {
  MessageFigures messages;
  messages.channel_rate = random_cap(random, nodes, kind);
  if (random.below(2) == 0)
    return messages;
  const int64_t wire = random.between(1, 16);
  messages.share = {random.between(1, wire), wire};
  if (random.below(3) > 0)
    messages.overhead = Duration(random.between(0, 500'000));
  if (random.below(3) > 0)
    messages.latency = Duration(random.between(0, 2'000'000));
  return messages;
}

std::unique_ptr<const Schedule> random_in_switch(Random& random, uint32_t nodes, int64_t count,
                                                 Transport transport) {
  const auto form = static_cast<InSwitchSchedule::Form>(random.below(4));
  const bool folds =
      form == InSwitchSchedule::Form::AllReduce || form == InSwitchSchedule::Form::ReduceScatter;
  return std::make_unique<InSwitchSchedule>(form, nodes, count,
                                            folds ? Combine::Min : Combine::None,
                                            Node(random.below(nodes)), transport);
}

/// Returns a chain, whole or cut to up to 9 pieces.
std::unique_ptr<const Schedule> random_chain(Random& random, uint32_t nodes, int64_t count,
                                             Transport transport) {
  auto chain = std::make_unique<ChainSchedule>(nodes, count, Node(random.below(nodes)), transport);
  if (random.below(3) == 0)
    return chain;
  return cut(std::move(chain), random.between(count / 9 + 1, count + 1));
}

/// Returns a one_shot schedule, whole or cut to up to 9 pieces.
std::unique_ptr<const Schedule> random_one_shot(Random& random, uint32_t nodes, int64_t count,
                                                Transport transport) {
  const auto form = static_cast<OneShotSchedule::Form>(random.below(2));
  const int64_t even = count / nodes * nodes;
  auto one_shot = std::make_unique<OneShotSchedule>(form, nodes, even, Combine::Add, transport);
  if (random.below(2) == 0)
    return one_shot;
  return cut(std::move(one_shot), random.between(count / 9 + 1, count + 1));
}

/// Returns a double binary tree over machines of up to 3 ranks, whole or cut to up to 9 pieces.
std::unique_ptr<const Schedule> random_tree(Random& random, uint32_t nodes, int64_t count,
                                            Transport transport) {
  const auto together = static_cast<uint32_t>(random.below(3)) + 1;
  auto tree = std::make_unique<TreeSchedule>(nodes, count, Combine::Add, together, transport);
  if (random.below(2) == 0)
    return tree;
  return cut(std::move(tree), random.between(count / 9 + 1, count + 1));
}

/// Returns an algorithm that goes in rounds and cuts its messages itself, whole or to up to 9
/// pieces.
std::unique_ptr<const Schedule> random_rounds(Random& random, uint32_t nodes, int64_t count,
                                              Transport transport) {
  if (random.below(2) == 0)
    transport.largest = random.between(count / 9 + 1, count + 1);
  const int64_t part = count / nodes;
  switch (random.below(3)) {
    case 0:
      return std::make_unique<BruckSchedule>(static_cast<BruckSchedule::Form>(random.below(2)),
                                             nodes, part, transport);
    case 1:
      return std::make_unique<PatSchedule>(
          nodes, part, random.below(2) == 0 ? Combine::None : Combine::Add, transport);
    default: {
      const auto form = static_cast<HalvingDoublingSchedule::Form>(random.below(3));
      const bool gathers = form == HalvingDoublingSchedule::Form::AllGather;
      return std::make_unique<HalvingDoublingSchedule>(
          form, nodes, nodes * part, gathers ? Combine::None : Combine::Add, transport);
    }
  }
}

std::unique_ptr<const Schedule> random_schedule(Random& random, uint32_t nodes, bool has_switch) {
  Transport transport;
  transport.channels = random.below(4) == 0 ? 2 : 1;
  transport.slots = static_cast<uint32_t>(random.below(3)) + 1;
  transport.entry = random.below(3) == 0 ? Entry::Rendezvous : Entry::Eager;
  const int64_t count = random.below(8) == 0 ? 0 : random.between(1, 60'000);
  const RingSchedule::Ways ways =
      random.below(3) == 0 ? RingSchedule::Ways::Both : RingSchedule::Ways::One;
  std::unique_ptr<const Schedule> schedule;
  switch (random.below(has_switch ? 12 : 10)) {
    case 0:
      schedule = std::make_unique<RingSchedule>(RingSchedule::Form::AllGather, nodes, count,
                                                Combine::None, transport, ways);
      break;
    case 1:
      schedule = std::make_unique<RingSchedule>(RingSchedule::Form::ReduceScatter, nodes, count,
                                                Combine::Add, transport, ways);
      break;
    case 2:
      schedule = std::make_unique<RingSchedule>(RingSchedule::Form::AllReduce, nodes, count,
                                                Combine::Max, transport, ways);
      break;
    case 3:
      schedule = std::make_unique<RecursiveDoublingSchedule>(nodes, count, Combine::Add, transport);
      break;
    case 4:
      schedule = std::make_unique<PairwiseSchedule>(nodes, count / nodes, transport);
      break;
    case 5:
      schedule = random_chain(random, nodes, count, transport);
      break;
    case 6:
      schedule = random_one_shot(random, nodes, count, transport);
      break;
    case 7:
      schedule = random_rounds(random, nodes, count, transport);
      break;
    case 8:
      schedule = random_tree(random, nodes, count, transport);
      break;
    case 10:
    case 11:
      schedule = random_in_switch(random, nodes, count, transport);
      break;
    default:
      schedule = random_permutes(random, nodes);
      break;
  }
  if (random.below(2) == 0)
    return schedule;
  // A stored schedule takes the other path through the sweep.
  return stored(*schedule, [&](Extent& extent) {
    extent.slots = transport.slots;
    extent.entry = transport.entry;
  });
}

/// Returns all devices, or each half, or every other device.
std::vector<std::vector<uint32_t>> random_groups(Random& random,
                                                 const std::vector<uint32_t>& devices) {
  const uint64_t form = devices.size() >= 4 ? random.below(3) : 0;
  if (form == 0)
    return {devices};
  std::vector<std::vector<uint32_t>> groups(2);
  for (size_t d = 0; d < devices.size() / 2 * 2; ++d)
    groups[form == 1 ? d / (devices.size() / 2) : d % 2].push_back(devices[d]);
  return groups;
}

/// A `ThreadWriter` writes a thread's part in a program: its own ops around the sites that it takes
/// part in.
class ThreadWriter {
 public:
  ThreadWriter(Sketch& sketch, size_t thread) : sketch_(sketch), thread_(thread) {}

  void between(Random& random) {
    sketch_.back_to_thread(thread_);
    if (random.below(2) == 0)
      sketch_.local(random.below(4) == 0 ? 0 : random.between(1, 5'000'000));
    if (!started_.empty() && random.below(3) == 0)
      done(random);
  }
  void meet(Random& random, SiteId site) {
    sketch_.back_to_thread(thread_);
    if (random.below(2) == 0)
      sketch_.sync(site);
    else
      started_.push_back(sketch_.start(site));
  }
  void finish(Random& random) {
    sketch_.back_to_thread(thread_);
    while (!started_.empty())
      done(random);
  }

 private:
  void done(Random& random) {
    const size_t which = random.below(started_.size());
    sketch_.done(started_[which]);
    started_.erase(started_.begin() + static_cast<std::ptrdiff_t>(which));
  }

  Sketch& sketch_;
  size_t thread_;
  std::vector<OpId> started_;
};

}  // namespace

RandomSketch random_sketch(Random& random, RandomKind kind) {
  const uint32_t devices =
      static_cast<uint32_t>(random.below(uint64_t{kind.most_devices} - kind.least_devices + 1)) +
      kind.least_devices;
  RandomSketch result{random_fabric(random, devices), Sketch(devices), {}};
  Sketch& sketch = result.sketch;
  std::vector<uint32_t> all(devices);
  std::iota(all.begin(), all.end(), 0U);

  std::vector<std::vector<uint32_t>> threads = {all};
  if (devices >= 4 && random.below(3) == 0) {
    const auto middle = all.begin() + devices / 2;
    threads = {{all.begin(), middle}, {middle, all.end()}};
    for (const auto& thread : threads)
      sketch.thread(thread);
  }
  std::vector<ThreadWriter> writers;
  for (size_t t = 0; t < threads.size(); ++t)
    writers.emplace_back(sketch, t);

  const uint32_t streams = random.below(3) == 0 ? 2 : 1;
  const uint64_t sites = random.below(4) + 1;
  for (uint64_t s = 0; s < sites; ++s) {
    const uint32_t stream = static_cast<uint32_t>(random.below(streams));
    for (ThreadWriter& writer : writers)
      writer.between(random);
    // The site is of all threads, or of one thread only.
    const size_t alone = random.below(threads.size());
    const bool everyone = threads.size() == 1 || random.below(2) == 0;
    const auto groups = random_groups(random, everyone ? all : threads[alone]);
    const uint32_t ranks = static_cast<uint32_t>(groups[0].size());
    const bool covers = everyone ? groups.size() * ranks == devices
                                 : groups.size() * ranks == threads[alone].size();
    if (!covers)
      continue;
    const bool has_switch = result.fabric.switches() > 0;
    const SiteId site = sketch.site(groups, random_schedule(random, ranks, has_switch), stream,
                                    random.below(2) == 0 ? Dtype::BF16 : Dtype::F32);
    for (size_t t = 0; t < threads.size(); ++t)
      if (everyone || t == alone)
        writers[t].meet(random, site);
  }
  for (ThreadWriter& writer : writers)
    writer.finish(random);

  CollectiveFigures figures;
  if (random.below(2) == 0)
    figures.launch = Duration(random.between(1, 3'000'000));
  if (random.below(2) == 0)
    figures.rates.reduce = BytesPerSecond(random.between(kLeastBandwidth, 1'000'000'000'000));
  if (random.below(2) == 0)
    figures.rates.store = BytesPerSecond(random.between(kLeastBandwidth, 1'000'000'000'000));
  for (size_t s = 0; s < sketch.program.sites.size(); ++s) {
    CollectiveFigures of_site = figures;
    const auto ranks = static_cast<uint32_t>(sketch.program.sites[s].groups.front().size());
    of_site.messages = random_messages(random, ranks, kind);
    sketch.figures(SiteId(s), of_site);
  }
  if (random.below(2) == 0)
    for (uint32_t d = 0; d < devices; ++d)
      result.device_start.emplace_back(random.between(0, 10'000'000));
  return result;
}

bool ends(const Sketch& sketch) {
  NoVisitor nothing;
  return walk(sketch.program, sketch.lowered, nothing).finished();
}

}  // namespace orrery::test
