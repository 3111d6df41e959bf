#include "models/program/sites.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "models/program/groups.h"
#include "models/program/rules.h"
#include "models/program/sides.h"

namespace orrery {

namespace {

/// Returns a parameter in which two ops differ. A message of a group has a stream of its own, which
/// says nothing of the site.
std::optional<std::string> difference(const Op& op, const Op& other) {
  Attributes a = written_attributes(op);
  Attributes b = written_attributes(other);
  if (!op.group.empty() || !other.group.empty()) {
    (void)a.take("stream");
    (void)b.take("stream");
  }
  for (const auto& [name, value] : a.all())
    if (!b.has(name) || b.all().find(name)->second != value)
      return name;
  for (const auto& [name, value] : b.all())
    if (!a.has(name))
      return name;
  return std::nullopt;
}

/// Returns whether the op is one side of a psend/precv transfer.
bool is_transfer(const Op& op) {
  return side_of(op) != Side::Both;
}

}  // namespace

SiteId SiteBuilder::enter(const Op& op, const OpRequest& request, In in) {
  const SiteId id = meet(op, request, in);
  meetings_[id.index()].in_body |= in == In::Body;
  if (is_transfer(op)) {
    std::vector<LogicalId>& devices = meetings_[id.index()].devices[side_of(op)];
    const std::vector<LogicalId>& own = program_.threads.back().devices;
    devices.insert(devices.end(), own.begin(), own.end());
  }
  return id;
}

/// Returns the site to which the token of a precv leads, if no precv is there yet.
std::optional<SiteId> SiteBuilder::sent_at(const Op& op) const {
  if (side_of(op) != Side::Receives || op.operands.empty())
    return std::nullopt;
  const auto sent = sent_at_.find(op.operands.front());
  if (sent == sent_at_.end() || meetings_[sent->second.index()].devices.count(Side::Receives) > 0)
    return std::nullopt;
  return sent->second;
}

SiteId SiteBuilder::meet(const Op& op, const OpRequest& request, In in) {
  const bool shared = !request.site.empty();
  const OpId op_id(program_.ops.size());
  const ThreadId thread(program_.threads.size() - 1);
  if (const std::optional<SiteId> sent = sent_at(op)) {
    Meeting& meeting = meetings_[sent->index()];
    match_types(op, request, meeting, program_.op(meeting.site.ops.front()));
    add_op(meeting.site, program_, op_id, side_of(op));
    meeting.threads.push_back(thread);
    return *sent;
  }
  const auto known = shared ? shared_.find(request.site) : shared_.end();
  if (known != shared_.end() && !meetings_[known->second.index()].site.ops.empty()) {
    Meeting& meeting = meetings_[known->second.index()];
    if (in == In::Thread)
      match(op, request, meeting);
    add_op(meeting.site, program_, op_id, side_of(op));
    meeting.threads.push_back(thread);
    return known->second;
  }
  Meeting meeting{{shared ? request.site : op.name, {op_id}, {}},
                  {thread},
                  diagnostics_.noted(request.key_origin("site")),
                  shared,
                  known != shared_.end()};
  meeting.site.named = shared;
  const SiteId id(meetings_.size());
  if (shared)
    shared_.insert_or_assign(request.site, id);
  else if (!is_transfer(op))
    find_groups(meeting, op.attributes);
  meetings_.push_back(std::move(meeting));
  return id;
}

void SiteBuilder::follow_tokens(const Op& op) {
  for (size_t r = 0; r < op.results.size(); ++r) {
    if (!program_.value(op.results[r]).type.token)
      continue;
    if (side_of(op) == Side::Sends) {
      sent_at_.emplace(op.results[r], *op.site);
    } else if (const std::optional<ValueId> before = token_handed_on(op, r)) {
      if (const auto known = sent_at_.find(*before); known != sent_at_.end())
        sent_at_.emplace(op.results[r], known->second);
    }
  }
}

void SiteBuilder::add_error(const Op& op, const OpRequest& request, std::string_view key,
                            std::string_view message) {
  diagnostics_.add(request.key_origin(key), fmt::format("{}: {}", op_title(op), message));
}

/// Reports the first way in which `op` differs from the ops that the site has already. The pairs of
/// a psend and a precv may differ. Then the program cannot end, which the verifier reports.
void SiteBuilder::match(const Op& op, const OpRequest& request, Meeting& meeting) {
  const size_t errors_before = diagnostics_.size();
  const ThreadId thread(program_.threads.size() - 1);
  const std::string where = fmt::format("site \"{}\"", meeting.site.name);
  const auto alike =
      std::find_if(meeting.site.ops.begin(), meeting.site.ops.end(),
                   [&](OpId other) { return side_of(program_.op(other)) == side_of(op); });
  const bool met = alike != meeting.site.ops.end();
  const Op& first = program_.op(met ? *alike : meeting.site.ops.front());
  const std::vector<OpId>& issued = program_.thread(thread).issue_order;
  const bool twice = std::any_of(meeting.site.ops.begin(), meeting.site.ops.end(), [&](OpId other) {
    return side_of(program_.op(other)) == side_of(op) &&
           std::binary_search(issued.begin(), issued.end(), other);
  });
  if (twice) {
    add_error(op, request, "site",
              fmt::format("expected each program to issue {} once, got it twice in program \"{}\"",
                          where, program_.thread(thread).name));
  } else if (op.kind != first.kind && !(is_transfer(op) && is_transfer(first))) {
    add_error(op, request, "op",
              fmt::format("expected {} at {}, as \"{}\" is, got {}", rules(first.kind).name, where,
                          given_name(first), rules(op.kind).name));
  } else if (const auto parameter = met ? difference(first, op) : std::nullopt) {
    add_error(op, request, *parameter,
              fmt::format("expected the same {} at {} as \"{}\" has", *parameter, where,
                          given_name(first)));
  } else {
    match_types(op, request, meeting, first);
  }
  meeting.invalid = meeting.invalid || diagnostics_.size() != errors_before;
}

/// Reports a dtype or shape that differs from that of `other`.
void SiteBuilder::match_types(const Op& op, const OpRequest& request, const Meeting& meeting,
                              const Op& other) {
  const ValueType& theirs = exchanged_operand(program_, other);
  const auto text = [](Dtype dtype, const Shape& shape) {
    return std::string(name(dtype)) + shape.text();
  };
  if (side_of(op) == Side::Receives) {
    const Shape shape(op.attributes.integers("shape"));
    const Dtype dtype = op.attributes.dtype("dtype");
    if (theirs.dtype != dtype || theirs.shape != shape)
      add_error(op, request, theirs.shape != shape ? "shape" : "dtype",
                fmt::format("expected {}, as \"{}\" {}, got {}", text(theirs.dtype, theirs.shape),
                            given_name(other), side_of(other) == Side::Sends ? "sends" : "receives",
                            text(dtype, shape)));
    return;
  }
  if (side_of(op) == Side::Both) {
    for (size_t k = 0; k < op.operands.size(); ++k)
      match_operand(op, program_.value(other.operands[k]).type, k, request, meeting, other, "has");
    return;
  }
  match_operand(op, theirs, 0, request, meeting, other,
                side_of(other) == Side::Receives ? "receives" : "has");
}

void SiteBuilder::match_operand(const Op& op, const ValueType& theirs, size_t operand,
                                const OpRequest& request, const Meeting& meeting, const Op& other,
                                std::string_view does) {
  const auto text = [](const ValueType& type) {
    return std::string(name(type.dtype)) + type.shape.text();
  };
  const ValueType& ours = program_.value(op.operands[operand]).type;
  if (theirs.dtype != ours.dtype || theirs.shape != ours.shape)
    add_error(op, request, "of",
              fmt::format("expected an operand of {} at site \"{}\", as \"{}\" {}, got {}",
                          text(theirs), meeting.site.name, given_name(other), does, text(ours)));
}

void SiteBuilder::refuse(std::string_view name) {
  if (name.empty())
    return;
  const auto [known, added] = shared_.emplace(name, SiteId(meetings_.size()));
  if (added)
    meetings_.push_back({{std::string(name), {}, {}}, {}, {}, true, true});
  else
    meetings_[known->second.index()].invalid = true;
}

/// Finds the groups of the meeting threads, and their members that are in none of these threads.
/// Those are absent.
void SiteBuilder::find_groups(Meeting& meeting, const Attributes& attributes) {
  std::vector<LogicalId> devices;
  for (const ThreadId thread : meeting.threads) {
    const std::vector<LogicalId>& own = program_.thread(thread).devices;
    devices.insert(devices.end(), own.begin(), own.end());
  }
  if (!std::is_sorted(devices.begin(), devices.end()))
    std::sort(devices.begin(), devices.end());
  if (!meet_once(meeting, devices, Side::Both))
    return;
  meeting.site.groups = replica_groups(program_.mesh, attributes, devices);
  for (uint32_t g = 0; g < meeting.site.groups.size(); ++g) {
    const Group& group = meeting.site.groups[g];
    for (uint32_t rank = 0; rank < group.size(); ++rank)
      if (!index_among(devices, group[rank]))
        meeting.site.absent.push_back({g, rank});
  }
}

/// Finds the groups of a transfer. A source and its destination are a group if both issue their
/// half and name each other. Otherwise each that names the other is in a group of its own with it,
/// from which the other is absent.
void SiteBuilder::find_transfers(Meeting& meeting) {
  std::map<Side, std::map<LogicalId, LogicalId>> peer;  // of each device that sends or receives
  for (auto& [side, devices] : meeting.devices) {
    std::sort(devices.begin(), devices.end());
    if (!meet_once(meeting, devices, side))
      return;
    const auto own =
        std::find_if(meeting.site.ops.begin(), meeting.site.ops.end(),
                     [&, wanted = side](OpId op) { return side_of(program_.op(op)) == wanted; });
    const Attributes& given = program_.op(*own).attributes;
    const std::vector<size_t> axes = axis_positions(program_.mesh, given.names("axis_name"));
    const bool sends = side == Side::Sends;
    std::map<int64_t, int64_t> other_rank;
    for (const std::vector<int64_t>& pair : given.lists("perm"))
      other_rank.emplace(pair[sends ? 0 : 1], pair[sends ? 1 : 0]);
    for (const LogicalId device : devices)
      if (const auto found = other_rank.find(program_.mesh.index(device, axes));
          found != other_rank.end())
        peer[side].emplace(device, program_.mesh.with_index(device, axes, found->second));
  }
  const auto peer_of = [&](Side side, LogicalId device) {
    const auto found = peer[side].find(device);
    return found == peer[side].end() ? std::nullopt : std::optional(found->second);
  };
  const auto add = [&](Group group, TransferGroup what) {
    meeting.site.groups.push_back(std::move(group));
    meeting.site.transfers.push_back(what);
  };
  const auto add_without = [&](uint32_t rank, Group pair) {
    meeting.site.absent.push_back({static_cast<uint32_t>(meeting.site.groups.size()), rank});
    add(std::move(pair), TransferGroup::Pair);
  };
  for (const LogicalId source : meeting.devices[Side::Sends]) {
    const auto to = peer_of(Side::Sends, source);
    if (!to)
      add({source}, TransferGroup::Source);
    else if (peer_of(Side::Receives, *to) == source)
      add({source, *to}, TransferGroup::Pair);
    else
      add_without(1, {source, *to});
  }
  for (const LogicalId destination : meeting.devices[Side::Receives]) {
    const auto from = peer_of(Side::Receives, destination);
    if (!from)
      add({destination}, TransferGroup::Destination);
    else if (peer_of(Side::Sends, *from) != destination)
      add_without(0, {*from, destination});
  }
}

/// Returns whether each of the devices, which ascend, belongs to only one of the threads that issue
/// ops of this side. Reports an error otherwise.
bool SiteBuilder::meet_once(const Meeting& meeting, std::span<const LogicalId> devices, Side side) {
  const auto twice = std::adjacent_find(devices.begin(), devices.end());
  if (twice == devices.end())
    return true;
  std::vector<std::string> names;
  for (const ThreadId id : meeting.threads) {
    const Thread& thread = program_.thread(id);
    const bool enters = std::any_of(meeting.site.ops.begin(), meeting.site.ops.end(), [&](OpId op) {
      return side_of(program_.op(op)) == side &&
             std::binary_search(thread.issue_order.begin(), thread.issue_order.end(), op);
    });
    if (enters && index_among(thread.devices, *twice))
      names.push_back(thread.name);
  }
  diagnostics_.add(
      meeting.named,
      fmt::format("expected each device to issue site \"{}\" in one of its programs, got "
                  "device {} in \"{}\" and \"{}\"",
                  meeting.site.name, twice->index(), names[0], names[1]));
  return false;
}

std::vector<Site> SiteBuilder::finish() {
  std::vector<Site> sites;
  for (Meeting& meeting : meetings_) {
    const bool unchecked = meeting.site.ops.empty() || meeting.invalid || meeting.in_body;
    if (!unchecked && is_transfer(program_.op(meeting.site.ops.front())))
      find_transfers(meeting);
    else if (!unchecked && meeting.shared)
      find_groups(meeting, program_.op(meeting.site.ops.front()).attributes);
    sites.push_back(std::move(meeting.site));
  }
  return sites;
}

}  // namespace orrery
