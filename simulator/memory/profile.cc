#include "simulator/memory/profile.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "models/base/amount_text.h"
#include "models/program/op_overflow.h"
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

Bytes& part(ThreadMemory& memory, HeldAs kind) {
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

void add_peak(ThreadMemory& memory, const std::vector<Lifetime>& lifetimes, int64_t position) {
  for (const Lifetime& lifetime : lifetimes) {
    if (!lifetime.held.has(position) || lifetime.size == Bytes())
      continue;
    const HeldAs kind = held_as(lifetime, position);
    memory.live_at_peak.push_back({lifetime.name, lifetime.size, kind});
    part(memory, kind) += lifetime.size;
  }
  std::sort(memory.live_at_peak.begin(), memory.live_at_peak.end(), larger);
}

ThreadMemory profile(const std::vector<OpId>& ops, const std::vector<Lifetime>& all,
                     Bytes reserved) {
  const std::vector<LifetimeChanges> at = changes(all, ops.size());
  const std::vector<Bytes> sizes = live_sizes(all, at, ops);

  // Storage that is held before the first op is held while that op runs.
  const auto peak = std::max_element(sizes.begin() + (ops.empty() ? 0 : 1), sizes.end());
  const int64_t position = peak - sizes.begin() - 1;

  ThreadMemory memory;
  memory.live.assign(sizes.begin() + 1, sizes.end());
  memory.reserved = reserved;
  memory.peak =
      on_behalf_of_entry(ops, static_cast<size_t>(position + 1), [&] { return *peak + reserved; });
  if (position != kBeforeFirst)
    memory.peak_at = ops[static_cast<size_t>(position)];
  memory.arena = placed(all, at, ops).high_water;
  for (const Lifetime& lifetime : all)
    if (lifetime.role == Lifetime::Role::Argument && lifetime.size > Bytes() &&
        lifetime.held.to == static_cast<int64_t>(ops.size()))
      memory.kept.push_back({lifetime.name, lifetime.size, HeldAs::Argument});
  add_peak(memory, all, position);
  return memory;
}

/// An argument on a device that none of its threads counts.
struct Beside {
  LogicalId device;
  size_t argument;
};

/// Returns these arguments by device, then by argument.
std::vector<Beside> arguments_beside(const Program& program,
                                     const std::vector<std::vector<ThreadId>>& threads_of) {
  std::vector<Beside> beside;
  for (size_t a = 0; a < program.arguments.size(); ++a) {
    const Argument& argument = program.arguments[a];
    const BufferId buffer = program.value(argument.value).buffer;
    if (!argument.on || program.buffer(buffer).space != MemorySpace::Device)
      continue;
    std::map<ThreadId, bool> known;
    const auto counts = [&](ThreadId thread) {
      const auto [at, added] = known.emplace(thread, false);
      if (added)
        at->second = all_have(argument, program.thread(thread).devices);
      return at->second;
    };
    for (const LogicalId device : *argument.on) {
      const std::vector<ThreadId>& threads = threads_of[device.index()];
      if (std::none_of(threads.begin(), threads.end(), counts))
        beside.push_back({device, a});
    }
  }
  std::stable_sort(beside.begin(), beside.end(),
                   [](const Beside& a, const Beside& b) { return a.device < b.device; });
  return beside;
}

/// Returns the buffers that several of the threads hold to the end, once for each of these threads
/// except the first.
std::vector<Held> held_again(const MemoryProfile& profile, const std::vector<ThreadId>& threads) {
  std::vector<Held> again;
  std::set<std::string_view> seen;
  for (const ThreadId thread : threads)
    for (const Held& held : profile.threads[thread.index()].kept)
      if (!seen.insert(held.value).second)
        again.push_back(held);
  return again;
}

Bytes total(const std::vector<ConnectionBuffers>& connections) {
  Bytes all;
  for (const ConnectionBuffers& buffers : connections)
    all += buffers.total();
  return all;
}

DeviceMemory of_device(const Program& program, const MemoryPolicy& policy,
                       const MemoryProfile& profile, const std::vector<ThreadId>& threads,
                       const std::vector<size_t>& arguments,
                       const std::vector<ConnectionBuffers>& connections) {
  DeviceMemory memory;
  memory.threads = threads;
  memory.connections = connections;
  memory.transport = total(connections);
  memory.reserved = policy.reserved + memory.transport;
  memory.peak = memory.reserved;
  for (const ThreadId thread : threads) {
    const ThreadMemory& counted = profile.threads[thread.index()];
    const auto add = [&] {
      memory.peak += counted.peak - counted.reserved;
      memory.arena += counted.arena;
    };
    if (counted.peak_at)
      on_behalf_of(*counted.peak_at, add);
    else
      add();
    memory.live_at_peak.insert(memory.live_at_peak.end(), counted.live_at_peak.begin(),
                               counted.live_at_peak.end());
    if (threads.size() == 1)
      memory.peak_at = counted.peak_at;
  }
  if (threads.size() > 1) {
    for (const Held& held : held_again(profile, threads)) {
      memory.live_at_peak.erase(
          std::find(memory.live_at_peak.begin(), memory.live_at_peak.end(), held));
      memory.beside -= held.size;
    }
  }
  for (const size_t a : arguments) {
    const Value& value = program.value(program.arguments[a].value);
    const Bytes size = align_up(program.buffer(value.buffer).size, policy.alignment);
    if (size > Bytes())
      memory.live_at_peak.push_back({value.name, size, HeldAs::Argument});
    memory.beside += size;
  }
  // Arguments come first in the arena: one more or less moves all the others by its size.
  memory.peak += memory.beside;
  memory.arena += memory.beside;
  std::sort(memory.live_at_peak.begin(), memory.live_at_peak.end(), larger);
  return memory;
}

/// Finds the kinds of devices. `connections` are those of each device.
void find_devices(const Program& program, const MemoryPolicy& policy,
                  const std::vector<std::vector<ConnectionBuffers>>& connections,
                  MemoryProfile& profile) {
  const std::vector<std::vector<ThreadId>> threads_of = threads_by_device(program);
  const std::vector<Beside> beside = arguments_beside(program, threads_of);
  std::map<std::tuple<std::vector<ThreadId>, std::vector<size_t>, std::vector<ConnectionBuffers>>,
           size_t>
      known;
  auto next = beside.begin();
  for (size_t d = 0; d < threads_of.size(); ++d) {
    std::vector<size_t> arguments;
    for (; next != beside.end() && next->device == LogicalId(d); ++next)
      arguments.push_back(next->argument);
    std::optional<size_t>& kind = profile.kind_of.emplace_back();
    if (threads_of[d].empty() && arguments.empty())
      continue;
    const auto [at, added] =
        known.emplace(std::tuple(threads_of[d], arguments, connections[d]), profile.kinds.size());
    if (added)
      profile.kinds.push_back(
          of_device(program, policy, profile, threads_of[d], arguments, connections[d]));
    kind = at->second;
  }
}

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

MemoryProfile profile(const Program& program, const Lowered& lowered, const MemoryPolicy& policy) {
  MemoryProfile result;
  const Lifetimes lifetimes(program, lowered, policy);
  std::vector<std::vector<ConnectionBuffers>> connections(program.mesh.devices());
  if (policy.counts_transport)
    connections = transport_buffers(program, lowered, policy.channels);
  for (size_t t = 0; t < program.threads.size(); ++t) {
    const Thread& thread = program.threads[t];
    Bytes most;
    for (const LogicalId device : thread.devices)
      most = std::max(most, total(connections[device.index()]));
    result.threads.push_back(
        profile(thread.issue_order, lifetimes.of(ThreadId(t)), policy.reserved + most));
  }
  find_devices(program, policy, connections, result);
  return result;
}

}  // namespace orrery
