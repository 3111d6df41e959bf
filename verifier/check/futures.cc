#include "models/program/futures.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <fmt/format.h>

#include "simulator/schedule/tape.h"
#include "verifier/check/checks.h"
#include "verifier/check/names.h"

namespace orrery {

namespace {

bool starts(const Op& op) {
  return op.site.has_value() && op.issue == Issue::Start;
}

/// Returns, for each value that the thread defines, its op's position in the thread's list.
std::map<ValueId, size_t> definitions(const Program& program, const Thread& thread) {
  std::map<ValueId, size_t> result;
  for (size_t i = 0; i < thread.issue_order.size(); ++i)
    for (const ValueId value : program.op(thread.issue_order[i]).results)
      result.emplace(value, i);
  return result;
}

/// Returns whether the value existed when the op at `position` was issued. A value that is defined
/// later in a donated buffer is the storage's new owner.
bool existed(const std::map<ValueId, size_t>& defined, ValueId value, size_t position) {
  const auto at = defined.find(value);
  return at == defined.end() || at->second < position;
}

std::vector<uint32_t> ends_of_use(const Program& program, const Thread& thread) {
  return ends_of_use(Tape(program, thread, std::make_shared<const Iterations>(program)));
}

bool donates(const Program& program, const Thread& thread) {
  return std::any_of(thread.issue_order.begin(), thread.issue_order.end(),
                     [&](OpId op) { return !program.op(op).donated.empty(); });
}

/// This is a donation of a buffer, and a later or simultaneous use of it.
struct Clash {
  size_t donor = 0;
  size_t user = 0;
  ValueId donated;
  ValueId used;
};

/// Returns the first clash for which `counts(donor, user)`, by the position of the user and then of
/// the donor. In a clash the user reads a value of the donated buffer that existed before the
/// donation.
template <class Counts>
std::optional<Clash> first_clash(const Program& program, const Thread& thread, Counts&& counts) {
  struct Donation {
    size_t donor;
    ValueId value;
  };
  const std::map<ValueId, size_t> defined = definitions(program, thread);
  std::map<BufferId, std::vector<Donation>> donations;
  for (size_t i = 0; i < thread.issue_order.size(); ++i)
    for (const ValueId value : program.op(thread.issue_order[i]).donated)
      donations[program.value(value).buffer].push_back({i, value});
  for (size_t user = 0; user < thread.issue_order.size() && !donations.empty(); ++user) {
    for (const ValueId used : program.op(thread.issue_order[user]).operands) {
      const auto given = donations.find(program.value(used).buffer);
      if (given == donations.end())
        continue;
      for (const Donation& donation : given->second)
        if (donation.donor != user && existed(defined, used, donation.donor) &&
            counts(donation.donor, user))
          return Clash{donation.donor, user, donation.value, used};
    }
  }
  return std::nullopt;
}

/// Returns whether the ops are collectives of one stream, which run one after another on each
/// device.
bool queued(const Op& a, const Op& b) {
  return a.site && b.site && stream_of(a) == stream_of(b);
}

/// Says that the user is an op of the backward pass, since such an op is not in the file.
std::string added_text(const Op& user, const Op& donor) {
  return user.pass != Pass::Forward && donor.pass == Pass::Forward
             ? fmt::format(" {} is of the backward pass, which \"transform\" added.",
                           quoted_name(user))
             : std::string();
}

std::string value_text(const Program& program, ValueId used, ValueId donated) {
  const std::string name = quoted(program.value(used).name);
  return used == donated ? name
                         : fmt::format("{}, which lives in the storage of {},", name,
                                       quoted(program.value(donated).name));
}

}  // namespace

Check leak_free(const Program& program) {
  const Futures futures(program);
  for (const Op& op : program.ops)
    if (starts(op) && futures.dones(op.results.front()).empty())
      return failed(CheckKind::LeakFree, pointer_of(op),
                    fmt::format("{} starts a collective that is never done.", quoted_name(op)),
                    {{"start", op.name}});
  return passed(CheckKind::LeakFree, "/program");
}

Check done_once(const Program& program) {
  const Futures futures(program);
  for (const Op& op : program.ops) {
    if (!starts(op))
      continue;
    const std::span<const OpId> dones = futures.dones(op.results.front());
    if (dones.size() < 2)
      continue;
    const Op& first = program.op(dones[0]);
    const Op& second = program.op(dones[1]);
    const std::string& start = program.value(op.results.front()).name;
    return failed(CheckKind::FutureDoneOnce, pointer_of(second),
                  fmt::format("{} ends {} again, which {} has ended.", quoted_name(second),
                              quoted(start), quoted_name(first)),
                  {{"start", start}, {"first", first.name}, {"second", second.name}});
  }
  return passed(CheckKind::FutureDoneOnce, "/program");
}

Check futures_used_by_done(const Program& program) {
  for (const Op& op : program.ops) {
    if (op.kind == OpKind::Done)
      continue;
    for (const ValueId operand : op.operands)
      if (program.value(operand).type.future)
        return failed(CheckKind::FutureUse, pointer_of(op),
                      fmt::format("{} reads {}, which only a done may read.", quoted_name(op),
                                  quoted(program.value(operand).name)),
                      {{"op", op.name}, {"future", program.value(operand).name}});
  }
  for (const ValueId output : program.outputs)
    if (program.value(output).type.future)
      return failed(CheckKind::FutureUse, "/outputs",
                    fmt::format("The output {} is a future, which only a done may read.",
                                quoted(program.value(output).name)),
                    {{"future", program.value(output).name}});
  return passed(CheckKind::FutureUse, "/program");
}

std::optional<Check> storage_race(const Program& program) {
  for (const Thread& thread : program.threads) {
    if (!donates(program, thread))
      continue;
    const std::vector<uint32_t> ends = ends_of_use(program, thread);
    const auto clash = first_clash(program, thread, [&](size_t donor, size_t user) {
      const bool in_flight = user < donor ? donor < ends[user] : user < ends[donor];
      return in_flight &&
             !queued(program.op(thread.issue_order[donor]), program.op(thread.issue_order[user]));
    });
    if (!clash)
      continue;
    const Op& donor = program.op(thread.issue_order[clash->donor]);
    const Op& user = program.op(thread.issue_order[clash->user]);
    const std::string value = value_text(program, clash->used, clash->donated);
    return failed(CheckKind::RaceFree, pointer_of(clash->user < clash->donor ? donor : user),
                  clash->user < clash->donor
                      ? fmt::format("{} takes over {} while {} is in flight and reads it.",
                                    quoted_name(donor), value, quoted_name(user))
                      : fmt::format("{} reads {} while {} is in flight and takes it over.",
                                    quoted_name(user), value, quoted_name(donor)),
                  {{"reads", user.name},
                   {"takes over", donor.name},
                   {"value", program.value(clash->used).name}});
  }
  return std::nullopt;
}

namespace {

/// Fails if one thread donates storage that another thread reads on a device of both: their ops
/// have no order. Returns nothing if no threads do so.
std::optional<Check> donation_between_lists(const Program& program) {
  struct Use {
    OpId op;
    ValueId value;
    size_t thread;
  };
  std::map<BufferId, std::vector<Use>> donations;
  for (size_t t = 0; t < program.threads.size(); ++t)
    for (const OpId op : program.threads[t].issue_order)
      for (const ValueId value : program.op(op).donated)
        donations[program.value(value).buffer].push_back({op, value, t});
  for (size_t t = 0; t < program.threads.size() && !donations.empty(); ++t) {
    for (const OpId user : program.threads[t].issue_order) {
      for (const ValueId used : program.op(user).operands) {
        const auto given = donations.find(program.value(used).buffer);
        if (given == donations.end())
          continue;
        for (const Use& donation : given->second) {
          if (donation.thread == t)
            continue;
          const std::vector<LogicalId>& left = program.threads[t].devices;
          const std::vector<LogicalId>& right = program.threads[donation.thread].devices;
          const auto both = std::find_if(left.begin(), left.end(), [&](LogicalId device) {
            return index_among(right, device).has_value();
          });
          if (both == left.end())
            continue;
          const Op& donor = program.op(donation.op);
          return failed(
              CheckKind::DonationUse, pointer_of(program.op(user)),
              fmt::format("{} uses {} on device {}, where {} of another program takes it over.",
                          quoted_name(program.op(user)), value_text(program, used, donation.value),
                          both->index(), quoted_name(donor)),
              {{"donated to", donor.name},
               {"used by", program.op(user).name},
               {"value", program.value(used).name}});
        }
      }
    }
  }
  return std::nullopt;
}

}  // namespace

Check donations_respected(const Program& program) {
  if (auto between = donation_between_lists(program))
    return *between;
  for (const Thread& thread : program.threads) {
    if (!donates(program, thread))
      continue;
    const auto clash =
        first_clash(program, thread, [](size_t donor, size_t user) { return donor < user; });
    if (clash) {
      const Op& donor = program.op(thread.issue_order[clash->donor]);
      const Op& user = program.op(thread.issue_order[clash->user]);
      const bool in_flight = clash->user < ends_of_use(program, thread)[clash->donor];
      return failed(
          CheckKind::DonationUse, pointer_of(user),
          fmt::format("{} uses {} after its donation to {}{}.{}", quoted_name(user),
                      value_text(program, clash->used, clash->donated), quoted_name(donor),
                      in_flight ? ", which is in flight" : "", added_text(user, donor)),
          {{"donated to", donor.name},
           {"used by", user.name},
           {"value", program.value(clash->used).name}});
    }
    const std::map<ValueId, size_t> defined = definitions(program, thread);
    for (size_t i = 0; i < thread.issue_order.size(); ++i) {
      const Op& donor = program.op(thread.issue_order[i]);
      for (const ValueId donated : donor.donated) {
        for (const ValueId output : program.outputs) {
          if (program.value(output).buffer != program.value(donated).buffer ||
              !existed(defined, output, i))
            continue;
          return failed(CheckKind::DonationUse, "/outputs",
                        fmt::format("The output {} is kept after its donation to {}.",
                                    value_text(program, output, donated), quoted_name(donor)),
                        {{"donated to", donor.name}, {"value", program.value(output).name}});
        }
      }
    }
  }
  return passed(CheckKind::DonationUse, "/program");
}

}  // namespace orrery
