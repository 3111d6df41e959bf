#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "models/base/amount_text.h"
#include "verifier/check/checks.h"
#include "verifier/check/names.h"

namespace orrery {

namespace {

constexpr size_t kNamedInMessage = 4;  // live buffers; the witness has all

std::string_view text(HeldAs kind) {
  switch (kind) {
    case HeldAs::Argument:
      return "argument";
    case HeldAs::Output:
      return "output";
    case HeldAs::Temporary:
      return "temporary";
    case HeldAs::InFlight:
      return "in flight";
    case HeldAs::Scratch:
      return "scratch";
  }
  return "";
}

/// Returns the first op of a device's only list at which the device holds more than its capacity.
std::optional<OpId> first_over(const Program& program, const MemoryProfile& memory,
                               const DeviceMemory& held, Bytes capacity) {
  if (held.lists.size() != 1)
    return std::nullopt;
  const ListMemory& list = memory.lists[held.lists.front()];
  for (size_t i = 0; i < list.live.size(); ++i)
    if (list.live[i] + held.reserved > capacity)
      return program.thread(list.thread.value()).issue_order[i];
  return std::nullopt;
}

}  // namespace

Check memory_capacity(const Program& program, const MemoryProfile& memory, Bytes capacity) {
  for (uint32_t d = 0; d < memory.kind_of.size(); ++d) {
    const LogicalId device(d);
    if (!memory.kind_of[d] || memory.of(device).peak <= capacity)
      continue;
    const DeviceMemory& held = memory.of(device);
    const bool several = held.lists.size() > 1;
    const std::string at =
        several        ? fmt::format("With its {} programs at their peaks", held.lists.size())
        : held.peak_at ? "At " + quoted(program.op(*held.peak_at).name)
                       : "Before the first op";
    Witness witness = {{"device", std::to_string(device.index())},
                       {"peak_at", held.peak_at ? program.op(*held.peak_at).name : ""},
                       {"peak_bytes", std::to_string(held.peak.count())},
                       {"capacity_bytes", std::to_string(capacity.count())}};
    if (const std::optional<OpId> first = first_over(program, memory, held, capacity))
      witness.emplace_back("first_over_at", program.op(*first).name);
    std::string live;
    for (size_t i = 0; i < held.live_at_peak.size(); ++i) {
      const Held& buffer = held.live_at_peak[i];
      const std::string line = fmt::format("{} ({})", size_text(buffer.size), text(buffer.kind));
      witness.emplace_back(buffer.value, line);
      if (i < kNamedInMessage)
        live += fmt::format("{}{} {}", i == 0 ? "" : ", ", quoted(buffer.value), line);
    }
    if (held.live_at_peak.size() > kNamedInMessage)
      live += fmt::format(", and {} more", held.live_at_peak.size() - kNamedInMessage);
    if (held.reserved > Bytes())
      live += fmt::format(", and {} reserved{}", size_text(held.reserved), transport_note(held));
    if (held.reserved > Bytes())
      witness.emplace_back("reserved_bytes", std::to_string(held.reserved.count()));
    const auto [size, most] = told_apart(held.peak, capacity);
    return failed(CheckKind::MemoryCapacity,
                  held.peak_at ? pointer_of(program.op(*held.peak_at)) : "/arrays",
                  fmt::format("{} device {} holds {}, over its {}: {}.", at, device.index(), size,
                              most, live),
                  std::move(witness));
  }
  return passed(CheckKind::MemoryCapacity, "/program",
                fmt::format("Every device fits its {} at every op.", size_text(capacity)));
}

WalkDigest whole_digest(const Program& program, const Lowered& lowered, ScheduleDigests& known) {
  Digest halves;
  Digest moves;
  for (size_t c = 0; c < lowered.collectives.size(); ++c) {
    const Collective& collective = lowered.collectives[c];
    const WalkDigest of_one =
        known.of(CollectiveId(c), *collective.schedule, itemsize(collective.work));
    const uint64_t runs = lowered.iterations->runs(program.site(collective.site).ops.front());
    halves.add(of_one.halves.repeated(runs));
    moves.add(of_one.moves->repeated(runs));
  }
  return {halves, moves};
}

namespace {

Check differs(const std::string& name, std::string_view what, Digest got, Digest expected) {
  return failed(
      CheckKind::ScheduleDigest, "/program",
      fmt::format("The {} did not {}: its digest is {:016x}, that of the schedules {:016x}.", name,
                  what, got.value(), expected.value()),
      {{"executor", name},
       {"digest", fmt::format("{:016x}", got.value())},
       {"expected", fmt::format("{:016x}", expected.value())}});
}

}  // namespace

Check digests_agree(const WalkDigest& whole,
                    const std::vector<std::pair<std::string, WalkDigest>>& executors) {
  std::string names;
  for (const auto& [name, digest] : executors) {
    if (digest.halves != whole.halves)
      return differs(name, "run each step of each schedule once", digest.halves, whole.halves);
    if (digest.moves && digest.moves != whole.moves)
      return differs(name, "move the elements that the schedules say", *digest.moves, *whole.moves);
    names += (names.empty() ? "" : ", ") + name;
  }
  return passed(CheckKind::ScheduleDigest, "/program",
                fmt::format("Each step of each schedule ran once in: {}.", names));
}

}  // namespace orrery
