#include "tools/calibrate/measured_call.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "models/base/amount_text.h"
#include "models/base/check.h"
#include "models/program/rules.h"
#include "simulator/algorithm/algorithms.h"
#include "simulator/lower/schedule_maker.h"

namespace orrery {
namespace {

std::string called(const NcclTable& table) {
  return fmt::format("{}:{}: {} of {}", table.file, table.line, name(table.collective),
                     counted(table.ranks, "rank"));
}

std::vector<MeasuredTime> times_of(const NcclRow& row) {
  std::vector<MeasuredTime> times;
  if (row.out_of_place && row.out_of_place->time > Duration())
    times.push_back({row.out_of_place->time, false});
  if (row.in_place && row.in_place->time > Duration())
    times.push_back({row.in_place->time, true});
  return times;
}

/// Returns why a whole table is left out.
std::optional<std::string> unfit(const NcclTable& table, const Cluster& cluster) {
  const uint32_t devices = cluster.fabric.devices();
  const auto* const nodes = dynamic_cast<const Nodes*>(&cluster.fabric.topology());
  if (nodes != nullptr && table.hosts.value_or(1) > 1 &&
      table.ranks != uint64_t{*table.hosts} * nodes->per_node())
    return fmt::format("it ran on {}, and a node of the cluster has {}",
                       counted(*table.hosts, "host"), counted(nodes->per_node(), "device"));
  if (table.ranks > devices)
    return fmt::format("the cluster has {}", counted(devices, "device"));
  if (table.ranks == 1)
    return "nothing is exchanged";
  const bool sends =
      table.collective == NcclCollective::Gather || table.collective == NcclCollective::Scatter;
  if (sends && table.ranks > kMostSends)
    return fmt::format("expected at most {}", counted(kMostSends, "rank"));
  return std::nullopt;
}

/// Returns the row as a call. The result is empty if it is not one of ours, with the reason in
/// `why`.
std::optional<MeasuredCall> measured_call(const NcclTable& table, const NcclRow& row,
                                          std::string& why) {
  const std::optional<Dtype> dtype = row.type.empty() ? Dtype::F32 : nccl_type_named(row.type);
  const std::optional<NcclRedop> redop =
      row.redop.empty() || row.redop == "none" ? NcclRedop::Sum : nccl_redop_named(row.redop);
  if (!dtype || !redop) {
    why = fmt::format("no type or operation of ours: {} {}", row.type, row.redop);
    return std::nullopt;
  }
  if (const auto reason = not_modelled(table.collective, *dtype, *redop)) {
    why = *reason;
    return std::nullopt;
  }
  const Bytes element = itemsize(*dtype);
  MeasuredCall measured;
  measured.call = {
      table.collective,
      table.ranks,
      nccl_counts(table.collective, row.size.count() / element.count(), element, table.ranks),
      *dtype,
      *redop,
      row.root.value_or(0)};
  measured.size = row.size;
  measured.gpus_of_process = table.settings ? table.settings->threads * table.settings->gpus : 1;
  measured.times = times_of(row);
  if (measured.call.counts.parameter == 0 || measured.times.empty()) {
    why = "no elements, or no time";
    return std::nullopt;
  }
  measured.program = std::make_shared<const Program>(program_of(measured.call).program);
  return measured;
}

}  // namespace

MeasuredCalls measured_calls(std::span<const NcclTable> tables, const Cluster& cluster) {
  MeasuredCalls measured;
  for (size_t t = 0; t < tables.size(); ++t) {
    const NcclTable& table = tables[t];
    if (const auto why = unfit(table, cluster)) {
      measured.left_out.push_back(fmt::format("{}: left out: {}", called(table), *why));
      continue;
    }
    int64_t rows = 0;
    std::string why;
    for (const NcclRow& row : table.rows) {
      if (std::optional<MeasuredCall> call = measured_call(table, row, why)) {
        call->table = t;
        measured.calls.push_back(std::move(*call));
      } else {
        ++rows;
      }
    }
    if (rows > 0)
      measured.left_out.push_back(
          fmt::format("{}: left out {}: {}", called(table), counted(rows, "row"), why));
  }
  return measured;
}

std::string_view op_of(const MeasuredCall& call) {
  for (const Op& op : call.program->ops)
    if (op.site)
      return rules(timed_as(op.kind)).name;
  fail_check("op_of", "a program with a collective", __FILE__, __LINE__);
}

bool may_carry_out(const ProtocolFigures& protocol, const MeasuredCall& call,
                   const std::optional<TransportFigures>& transport) {
  std::set<OpKind> kinds;
  for (const Op& op : call.program->ops)
    if (op.site)
      kinds.insert(op.kind);
  for (const OpKind kind : kinds)
    for (const Algorithm* const algorithm : algorithms_for(kind))
      for (const ProtocolFigures* const serving : protocols_for(algorithm, kind, transport))
        if (serving->name == protocol.name)
          return true;
  return false;
}

Duration modelled_as(const MeasuredTime& measured, const CallTime& modelled) {
  return measured.in_place ? modelled.in_place : modelled.out_of_place;
}

std::vector<CallTime> modelled_times(std::span<const MeasuredCall> calls, const Cluster& cluster,
                                     const Limits& limits) {
  std::vector<CallTime> times(calls.size());
  std::atomic<size_t> next = 0;
  std::mutex failed;
  std::map<size_t, std::exception_ptr>
      failures;  // by call, so that the error of the first call is thrown
  const auto time = [&](size_t c) {
    try {
      times[c] =
          call_time(calls[c].call, *calls[c].program, calls[c].gpus_of_process, cluster, limits);
    } catch (...) {
      const std::lock_guard lock(failed);
      failures.emplace(c, std::current_exception());
    }
  };
  const auto work = [&] {
    for (size_t c = next++; c < calls.size(); c = next++)
      time(c);
  };
  std::vector<std::thread> threads;
  try {
    for (unsigned t = 1; t < std::thread::hardware_concurrency() && t < calls.size(); ++t)
      threads.emplace_back(work);
  } catch (const std::system_error&) {
    // If the system has no more threads, fewer do the work.
  }
  work();
  for (std::thread& thread : threads)
    thread.join();
  if (!failures.empty())
    std::rethrow_exception(failures.begin()->second);
  return times;
}

}  // namespace orrery
