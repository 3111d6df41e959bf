#include "simulator/memory/profile.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "models/base/amount_text.h"
#include "models/base/check.h"
#include "models/program/holders.h"
#include "models/program/op.h"
#include "simulator/memory/lifetimes.h"
#include "simulator/memory/placement.h"

namespace orrery {

namespace {

HeldAs held_as(const Lifetime& lifetime, int64_t position) {
  switch (lifetime.role) {
    case Lifetime::Role::Argument:
      return HeldAs::Argument;
    case Lifetime::Role::Output:
      return HeldAs::Output;
    case Lifetime::Role::Scratch:
      return HeldAs::Scratch;
    case Lifetime::Role::Temporary:
      break;
  }
  const bool in_flight = std::any_of(lifetime.in_flight.begin(), lifetime.in_flight.end(),
                                     [&](const Span& span) { return span.has(position); });
  return in_flight ? HeldAs::InFlight : HeldAs::Temporary;
}

/// Returns the live bytes before the first op and at each position.
std::vector<Bytes> live_sizes(const std::vector<Lifetime>& lifetimes,
                              const std::vector<LifetimeChanges>& changes,
                              const std::vector<OpId>& ops) {
  std::vector<Bytes> sizes;
  Bytes live;
  for (const LifetimeChanges& change : changes) {
    on_behalf_of_entry(ops, sizes.size(), [&] {
      for (const size_t i : change.begin)
        live += lifetimes[i].size;
    });
    sizes.push_back(live);
    for (const size_t i : change.end)
      live -= lifetimes[i].size;
  }
  return sizes;
}

Bytes& part(ListMemory& memory, HeldAs kind) {
  switch (kind) {
    case HeldAs::Argument:
      return memory.arguments;
    case HeldAs::Output:
      return memory.outputs;
    case HeldAs::Temporary:
      return memory.temporaries;
    case HeldAs::InFlight:
      return memory.in_flight;
    case HeldAs::Scratch:
      return memory.scratch;
  }
  fail_check("kind is an enumerator", "a kind is one of the enumeration", __FILE__, __LINE__);
}

bool larger(const Held& a, const Held& b) {
  return std::tie(b.size, a.value, a.kind) < std::tie(a.size, b.value, b.kind);
}

void add_peak(ListMemory& memory, const std::vector<Lifetime>& lifetimes, int64_t position) {
  for (const Lifetime& lifetime : lifetimes) {
    if (!lifetime.held.has(position) || lifetime.size == Bytes())
      continue;
    const HeldAs kind = held_as(lifetime, position);
    memory.live_at_peak.push_back({lifetime.name, lifetime.size, kind});
    part(memory, kind) += lifetime.size;
  }
  std::sort(memory.live_at_peak.begin(), memory.live_at_peak.end(), larger);
}

ListMemory memory_of(const Program& program, const Lifetimes& lifetimes, HeldList list) {
  const std::vector<OpId>& ops = ops_of_list(program, list.thread);
  const std::vector<Lifetime> all = lifetimes.of(list);
  const std::vector<LifetimeChanges> at = changes(all, ops.size());
  const std::vector<Bytes> sizes = live_sizes(all, at, ops);

  // Storage that is held before the first op is held while that op runs.
  const auto peak = std::max_element(sizes.begin() + (ops.empty() ? 0 : 1), sizes.end());
  const int64_t position = peak - sizes.begin() - 1;

  ListMemory memory;
  static_cast<HeldList&>(memory) = std::move(list);
  memory.live.assign(sizes.begin() + 1, sizes.end());
  memory.peak = *peak;
  if (position != kBeforeFirst)
    memory.peak_at = ops[static_cast<size_t>(position)];
  memory.arena = placed(all, at, ops).high_water;
  add_peak(memory, all, position);
  return memory;
}

Bytes total(const std::vector<ConnectionBuffers>& connections) {
  Bytes all;
  for (const ConnectionBuffers& buffers : connections)
    all += buffers.total();
  return all;
}

/// Finds the lists and the kinds of devices.
class Profiler {
 public:
  Profiler(const Program& program, const Lowered& lowered, const MemoryPolicy& policy)
      : program_(program), policy_(policy), lifetimes_(program, lowered, policy) {}

  /// `connections` are those of each device.
  MemoryProfile profile(const std::vector<std::vector<ConnectionBuffers>>& connections) && {
    const std::vector<std::vector<ThreadId>> threads_of = threads_by_device(program_);
    const std::vector<std::vector<size_t>> arguments_on = this->arguments_on();
    const std::vector<std::map<ThreadId, std::vector<ValueId>>> lacking_on = this->lacking_on();
    std::map<std::tuple<std::vector<ThreadId>, std::vector<size_t>,
                        std::map<ThreadId, std::vector<ValueId>>, std::vector<ConnectionBuffers>>,
             size_t>
        known;
    for (size_t d = 0; d < threads_of.size(); ++d) {
      std::optional<size_t>& kind = profile_.kind_of.emplace_back();
      if (threads_of[d].empty() && arguments_on[d].empty())
        continue;
      const auto [at, added] =
          known.emplace(std::tuple(threads_of[d], arguments_on[d], lacking_on[d], connections[d]),
                        profile_.kinds.size());
      if (added)
        profile_.kinds.push_back(
            of_device(lists_of(threads_of[d], arguments_on[d], lacking_on[d]), connections[d]));
      kind = at->second;
    }
    return std::move(profile_);
  }

 private:
  /// Returns, per device, the arguments that not all devices have. Those in host memory take none
  /// of the device's.
  std::vector<std::vector<size_t>> arguments_on() const {
    std::vector<std::vector<size_t>> on(program_.mesh.devices());
    for (size_t a = 0; a < program_.arguments.size(); ++a) {
      const Argument& argument = program_.arguments[a];
      if (argument.on &&
          program_.buffer(program_.value(argument.value).buffer).space == MemorySpace::Device)
        for (const LogicalId device : *argument.on)
          on[device.index()].push_back(a);
    }
    return on;
  }

  /// Returns, per device, the results that it lacks, by the thread whose op makes them.
  std::vector<std::map<ThreadId, std::vector<ValueId>>> lacking_on() const {
    std::vector<std::map<ThreadId, std::vector<ValueId>>> lacking(program_.mesh.devices());
    const Holders holders(program_);
    for (size_t t = 0; t < program_.threads.size(); ++t)
      for (const OpId id : program_.threads[t].issue_order)
        if (const Op& op = program_.op(id); op.kind == OpKind::HeldOn)
          for (const LogicalId device : program_.threads[t].devices)
            if (!holders.has(device, op.results.front()))
              lacking[device.index()][ThreadId(t)].push_back(op.results.front());
    return lacking;
  }

  std::vector<size_t> lists_of(const std::vector<ThreadId>& threads,
                               const std::vector<size_t>& arguments_on,
                               const std::map<ThreadId, std::vector<ValueId>>& lacking) {
    std::vector<ValueId> arguments;
    for (size_t a = 0; a < program_.arguments.size(); ++a)
      if (program_.arguments[a].on ? std::binary_search(arguments_on.begin(), arguments_on.end(), a)
                                   : !threads.empty())
        arguments.push_back(program_.arguments[a].value);
    std::vector<size_t> lists;
    std::vector<std::vector<ValueId>> held = lifetimes_.held_arguments(threads, arguments);
    for (size_t l = 0; l < held.size(); ++l) {
      HeldList list{.holds = std::move(held[l])};
      if (!threads.empty()) {
        list.thread = threads[l];
        if (const auto lacks = lacking.find(threads[l]); lacks != lacking.end())
          list.lacks = lacks->second;
      }
      const auto [at, added] = lists_.emplace(list, profile_.lists.size());
      if (added)
        profile_.lists.push_back(memory_of(program_, lifetimes_, std::move(list)));
      lists.push_back(at->second);
    }
    return lists;
  }

  DeviceMemory of_device(std::vector<size_t> lists,
                         const std::vector<ConnectionBuffers>& connections) const {
    DeviceMemory memory;
    memory.connections = connections;
    memory.transport = total(connections);
    memory.reserved = policy_.reserved + memory.transport;
    memory.peak = memory.reserved;
    for (const size_t l : lists) {
      const ListMemory& list = profile_.lists[l];
      const auto add = [&] {
        memory.peak += list.peak;
        memory.arena += list.arena;
      };
      if (list.peak_at)
        on_behalf_of(*list.peak_at, add);
      else
        add();
      memory.live_at_peak.insert(memory.live_at_peak.end(), list.live_at_peak.begin(),
                                 list.live_at_peak.end());
      if (lists.size() == 1)
        memory.peak_at = list.peak_at;
    }
    std::sort(memory.live_at_peak.begin(), memory.live_at_peak.end(), larger);
    memory.lists = std::move(lists);
    return memory;
  }

  const Program& program_;
  const MemoryPolicy& policy_;
  const Lifetimes lifetimes_;
  std::map<HeldList, size_t> lists_;
  MemoryProfile profile_;
};

}  // namespace

std::string transport_note(const DeviceMemory& memory) {
  if (memory.transport == Bytes())
    return "";
  if (memory.transport == memory.reserved)
    return " (transport buffers)";
  return fmt::format(" ({} of it transport buffers)", size_text(memory.transport));
}

Bytes MemoryProfile::largest_peak() const {
  Bytes peak;
  for (const DeviceMemory& kind : kinds)
    peak = std::max(peak, kind.peak);
  return peak;
}

const ListMemory& MemoryProfile::of(LogicalId device, ThreadId thread) const {
  const std::vector<size_t>& of_device = of(device).lists;
  const auto found = std::find_if(of_device.begin(), of_device.end(),
                                  [&](size_t list) { return lists[list].thread == thread; });
  ORRERY_CHECK(found != of_device.end(), "the device runs the list of the thread");
  return lists[*found];
}

MemoryProfile profile(const Program& program, const Lowered& lowered, const MemoryPolicy& policy) {
  std::vector<std::vector<ConnectionBuffers>> connections(program.mesh.devices());
  if (policy.counts_transport)
    connections = transport_buffers(program, lowered, policy.channels);
  return Profiler(program, lowered, policy).profile(connections);
}

}  // namespace orrery
