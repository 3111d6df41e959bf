#include "models/program/sites.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "models/program/groups.h"
#include "models/program/rules.h"

namespace orrery {

namespace {

/// A parameter in which two ops differ.
std::optional<std::string> difference(const Attributes& a, const Attributes& b) {
  for (const auto& [name, value] : a.all())
    if (!b.has(name) || b.all().find(name)->second != value)
      return name;
  for (const auto& [name, value] : b.all())
    if (!a.has(name))
      return name;
  return std::nullopt;
}

}  // namespace

SiteId SiteBuilder::enter(const Op& op, const OpRequest& request) {
  const bool shared = !request.site.empty();
  const OpId op_id(program_.ops.size());
  const ThreadId thread(program_.threads.size() - 1);
  const auto known = shared ? shared_.find(request.site) : shared_.end();
  if (known != shared_.end() && !meetings_[known->second.index()].site.ops.empty()) {
    Meeting& meeting = meetings_[known->second.index()];
    match(op, request, meeting);
    meeting.site.ops.push_back(op_id);
    meeting.threads.push_back(thread);
    return known->second;
  }
  Meeting meeting{{shared ? request.site : op.name, {op_id}, {}},
                  {thread},
                  diagnostics_.noted(request.key_origin("axis_name")),
                  diagnostics_.noted(request.key_origin("site")),
                  shared,
                  known != shared_.end()};
  const SiteId id(meetings_.size());
  if (shared)
    shared_.insert_or_assign(request.site, id);
  else
    find_groups(meeting, op.attributes);
  meetings_.push_back(std::move(meeting));
  return id;
}

/// Reports the first way in which `op` differs from the ops that the site has already.
void SiteBuilder::match(const Op& op, const OpRequest& request, Meeting& meeting) {
  const size_t errors_before = diagnostics_.size();
  const Op& first = program_.op(meeting.site.ops.front());
  const ThreadId thread(program_.threads.size() - 1);
  const std::string where = fmt::format("site \"{}\"", meeting.site.name);
  if (meeting.threads.back() == thread) {  // the ops of a thread are consecutive
    diagnostics_.add(request.key_origin("site"),
                     fmt::format("expected each thread to issue {} once, got it twice in thread "
                                 "\"{}\"",
                                 where, program_.thread(thread).name));
  } else if (op.kind != first.kind) {
    diagnostics_.add(request.key_origin("op"),
                     fmt::format("expected {} at {}, as \"{}\" is, got {}", rules(first.kind).name,
                                 where, first.name, rules(op.kind).name));
  } else if (const auto parameter = difference(first.attributes, op.attributes)) {
    diagnostics_.add(
        request.key_origin(*parameter),
        fmt::format("expected the same {} at {} as \"{}\" has", *parameter, where, first.name));
  } else {
    for (size_t k = 0; k < op.operands.size(); ++k) {
      const ValueType& theirs = program_.value(first.operands[k]).type;
      const ValueType& ours = program_.value(op.operands[k]).type;
      if (theirs.dtype != ours.dtype || theirs.shape != ours.shape)
        diagnostics_.add(request.key_origin("of"),
                         fmt::format("expected an operand of {}{} at {}, as \"{}\" has, got {}{}",
                                     name(theirs.dtype), theirs.shape.text(), where, first.name,
                                     name(ours.dtype), ours.shape.text()));
    }
  }
  meeting.invalid = meeting.invalid || diagnostics_.size() != errors_before;
}

void SiteBuilder::refuse(std::string_view name) {
  if (name.empty())
    return;
  const auto [known, added] = shared_.emplace(name, SiteId(meetings_.size()));
  if (added)
    meetings_.push_back({{std::string(name), {}, {}}, {}, {}, {}, true, true});
  else
    meetings_[known->second.index()].invalid = true;
}

/// The groups of the meeting threads; reports one that reaches beyond them.
void SiteBuilder::find_groups(Meeting& meeting, const Attributes& attributes) {
  std::vector<LogicalId> devices;
  for (const ThreadId thread : meeting.threads) {
    const std::vector<LogicalId>& own = program_.thread(thread).devices;
    devices.insert(devices.end(), own.begin(), own.end());
  }
  if (!std::is_sorted(devices.begin(), devices.end()))
    std::sort(devices.begin(), devices.end());
  if (!meet_once(meeting, devices))
    return;
  auto outcome = replica_groups(program_.mesh, attributes, devices);
  if (const auto* cut = std::get_if<CutGroup>(&outcome)) {
    diagnostics_.add(
        meeting.at,
        meeting.shared
            ? fmt::format("expected each group to lie within the threads that issue site \"{}\", "
                          "got one of device {}, which is theirs, and device {}, which is not",
                          meeting.site.name, cut->inside.index(), cut->outside.index())
            : fmt::format("expected each group to lie within thread \"{}\", got one of device {}, "
                          "which is its own, and device {}, which is not; ops of several threads "
                          "meet if they name the same \"site\"",
                          program_.thread(meeting.threads.front()).name, cut->inside.index(),
                          cut->outside.index()));
    return;
  }
  meeting.site.groups = std::get<std::vector<Group>>(std::move(outcome));
}

/// Whether each of the devices, which ascend, belongs to only one of the threads.
bool SiteBuilder::meet_once(const Meeting& meeting, std::span<const LogicalId> devices) {
  const auto twice = std::adjacent_find(devices.begin(), devices.end());
  if (twice == devices.end())
    return true;
  std::vector<std::string> names;
  for (const ThreadId id : meeting.threads) {
    const Thread& thread = program_.thread(id);
    if (index_among(thread.devices, *twice))
      names.push_back(thread.name);
  }
  diagnostics_.add(
      meeting.named,
      fmt::format("expected each device to issue site \"{}\" in one of its threads, got "
                  "device {} in \"{}\" and \"{}\"",
                  meeting.site.name, twice->index(), names[0], names[1]));
  return false;
}

std::vector<Site> SiteBuilder::finish() {
  std::vector<Site> sites;
  for (Meeting& meeting : meetings_) {
    if (meeting.shared && !meeting.invalid)
      find_groups(meeting, program_.op(meeting.site.ops.front()).attributes);
    sites.push_back(std::move(meeting.site));
  }
  return sites;
}

}  // namespace orrery
