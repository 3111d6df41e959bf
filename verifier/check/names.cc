#include "verifier/check/names.h"

#include <array>
#include <utility>

#include "models/base/amount_text.h"
#include "models/scenario/quantity_text.h"

namespace orrery {

namespace {

constexpr std::array kChecks = {
    CheckInfo{CheckKind::DeadlockFree, "DEADLOCK.FREE",
              "Every device reaches the end of its list."},
    CheckInfo{CheckKind::SendsUnbuffered, "SENDS.UNBUFFERED",
              "The program ends though each psend waits until its precv is reached."},
    CheckInfo{CheckKind::SendsBuffered, "SENDS.BUFFERED",
              "The program ends if each device can have as many messages under way that nobody "
              "receives yet as are expected."},
    CheckInfo{CheckKind::OrderAgreed, "ORDER.AGREED",
              "Devices that share collectives on one stream issue them in one order."},
    CheckInfo{CheckKind::StreamsOrdered, "STREAMS.ORDERED",
              "Devices issue collectives that are in flight together on two streams in one "
              "order."},
    CheckInfo{CheckKind::RouteLeft, "ROUTE.LEFT",
              "Every message has a route over the links that are not cut."},
    CheckInfo{CheckKind::TablesAgreed, "TABLES.AGREED",
              "The slices of ragged exchanges lie in their arrays, are as large as their receivers "
              "expect, and do not overlap."},
    CheckInfo{CheckKind::RaceFree, "RACE.FREE",
              "No op takes storage that one in flight reads, and no two steps race."},
    CheckInfo{CheckKind::DonationUse, "DONATION.USE",
              "No op or output uses a value after its donation."},
    CheckInfo{CheckKind::LeakFree, "LEAK.FREE", "Every started collective is done."},
    CheckInfo{CheckKind::FutureDoneOnce, "FUTURE.DONE_ONCE", "No future is done twice."},
    CheckInfo{CheckKind::FutureUse, "FUTURE.USE", "Only a done reads a future."},
    CheckInfo{CheckKind::MemoryCapacity, "MEMORY.CAPACITY",
              "What a device holds fits its memory at every op."},
    CheckInfo{CheckKind::SpaceCapacity, "SPACE.CAPACITY",
              "The scratch of every mpmd_map fits the memory spaces of the cores."},
    CheckInfo{
        CheckKind::MemoryArena, "MEMORY.ARENA",
        "On GPUs, each virtual device used as many bytes of its arena as the profile counts."},
    CheckInfo{CheckKind::MemoryGuards, "MEMORY.GUARDS",
              "On GPUs, nothing was written outside of its place."},
    CheckInfo{CheckKind::ScheduleDigest, "SCHEDULE.DIGEST",
              "Every executor ran each step of each schedule once."},
    CheckInfo{CheckKind::ScheduleProved, "SCHEDULE.PROVED",
              "For all inputs, each result element is made of exactly the elements that the "
              "definition names, each once."},
    CheckInfo{CheckKind::RuntimeLimits, "RUNTIME.LIMITS",
              "An imported algorithm is within the limits of the runtime that is to run it."},
    CheckInfo{CheckKind::ValuesGpus, "VALUES.GPUS",
              "The values of the GPUs are those of the host executor, bit for bit."},
    CheckInfo{CheckKind::ValuesOracle, "VALUES.ORACLE",
              "The results of a collective are those that its definition gives on its operands."},
    CheckInfo{CheckKind::MpmdReplicas, "MPMD.REPLICAS",
              "An array that several groups have is the same in each, bit for bit."},
    CheckInfo{CheckKind::ValuesEqual, "VALUES.EQUAL", "The values are bitwise equal."},
    CheckInfo{CheckKind::ValuesClose, "VALUES.CLOSE",
              "The values differ by no more than their rounding errors allow."},
    CheckInfo{CheckKind::ValuesLiteral, "VALUES.LITERAL", "The value is the one given."},
    CheckInfo{CheckKind::TimeMakespan, "TIME.MAKESPAN", "The makespan is within its bounds."},
    CheckInfo{CheckKind::MemoryPeak, "MEMORY.PEAK",
              "The largest peak of any device is within its bounds."},
    CheckInfo{CheckKind::PropertyHolds, "PROPERTY.HOLDS", "The properties asked for hold."},
};

}  // namespace

std::span<const CheckInfo> all_checks() {
  return kChecks;
}

const CheckInfo& info(CheckKind kind) {
  return kChecks[static_cast<size_t>(kind)];
}

Check passed(CheckKind kind, std::string of, std::string message, std::string caveat) {
  const CheckInfo& check = info(kind);
  return {std::string(check.name),
          Verdict::Holds,
          std::move(of),
          message.empty() ? std::string(check.promises) : std::move(message),
          {},
          std::move(caveat)};
}

Check failed(CheckKind kind, std::string of, std::string message, Witness witness) {
  return {std::string(info(kind).name), Verdict::Fails,     std::move(of),
          std::move(message),           std::move(witness), {}};
}

Check undecided(CheckKind kind, std::string of, std::string message, Witness witness) {
  return {std::string(info(kind).name), Verdict::Undecided, std::move(of),
          std::move(message),           std::move(witness), {}};
}

size_t rows_shown(size_t count) {
  constexpr size_t kMost = 8;
  return count > kMost ? kMost - 1 : count;
}

void add_row_of_rest(Witness& witness, size_t count) {
  if (const size_t shown = rows_shown(count); shown < count)
    witness.emplace_back("...", std::to_string(count - shown) + " more");
}

std::string pointer_of(const Op& op) {
  if (!op.origin)
    return quoted(op.name);
  return op.origin->pointer + (op.pass != Pass::Forward ? ' ' + quoted(op.name) : "");
}

std::string quoted(std::string_view name) {
  return '"' + std::string(name) + '"';
}

std::pair<std::string, std::string> told_apart(Bytes amount, Bytes limit) {
  const std::pair texts(size_text(amount), size_text(limit));
  return texts.first != texts.second ? texts
                                     : std::pair(quantity_text(amount), quantity_text(limit));
}

std::pair<std::string, std::string> told_apart(Duration amount, Duration limit) {
  const std::pair texts(time_text(amount, true), time_text(limit, true));
  return texts.first != texts.second ? texts
                                     : std::pair(quantity_text(amount), quantity_text(limit));
}

}  // namespace orrery
