// This is the part of vjp that starts collectives of loops in earlier iterations.

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "models/base/callable.h"
#include "models/program/iteration_name.h"
#include "models/program/loops.h"
#include "models/program/rules.h"
#include "models/transform/program_copy.h"

namespace orrery {

namespace {

/// Returns where each op that is directly in the body stands among the body's parts, in order.
std::vector<size_t> direct_ops(const std::vector<ProgramPart>& parts) {
  std::vector<size_t> ops;
  size_t depth = 0;
  for (size_t i = 0; i < parts.size(); ++i)
    if (std::holds_alternative<LoopBegin>(parts[i]))
      ++depth;
    else if (std::holds_alternative<LoopEnd>(parts[i]))
      --depth;
    else if (depth == 0)
      ops.push_back(i);
  return ops;
}

/// Visits each name that an op makes.
template <class Op, class Visit>
void for_each_result(Op& op, Visit visit) {
  visit(op.name);
  for (auto& name : op.other_results)
    visit(name);
}

/// Early says which collectives of a body can start before their iteration, and what their operands
/// follow from.
struct Early {
  std::vector<size_t> collectives;  // where they stand among the body's parts
  std::set<size_t> before;          // the ops that make their operands
  bool reads_index = false;
};

class Prefetched {
 public:
  Prefetched(const Prefetch& prefetch, UnusedNames& names) : prefetch_(prefetch), names_(names) {}

  bool any() const { return added_ > 0; }

  std::vector<ProgramPart> in(std::vector<ProgramPart> parts) {
    std::vector<ProgramPart> made;
    for (size_t i = 0; i < parts.size(); ++i) {
      if (!std::holds_alternative<LoopBegin>(parts[i])) {
        made.push_back(std::move(parts[i]));
        continue;
      }
      LoopParts body = take_loop(parts, i);
      i += body.parts.size() + 1;
      const size_t before = added_;
      body.parts = in(std::move(body.parts));
      // A loop around one that has been split stays whole: bodies would be copied for each of both.
      if (added_ == before)
        add(std::move(body), made);
      else
        append(std::move(body), made);
    }
    return made;
  }

 private:
  /// Returns whether the op is a collective that the backward pass computes again, in either pass.
  bool can_start(const OpRequest& op) const {
    return can_start_early(op) && (op.pass == Pass::Again || prefetch_.forward.contains(op.name));
  }

  /// Returns the collectives whose operands follow from the index, and from values outside of the
  /// loop that no iteration saved.
  Early early(const LoopParts& body) const {
    std::set<std::string> later;  // what must wait for its iteration
    std::map<std::string, size_t> makers;
    for (const LoopBegin::Carried& carried : body.begin.carries)
      later.insert(carried.param);
    Early early;
    const std::vector<size_t> ops = direct_ops(body.parts);
    for (size_t i = 0; i < body.parts.size(); ++i) {
      const ProgramPart& part = body.parts[i];
      if (const auto* loop = std::get_if<LoopEnd>(&part))
        later.insert(loop->results.begin(), loop->results.end());
      if (!std::binary_search(ops.begin(), ops.end(), i))
        continue;
      const auto& op = std::get<OpRequest>(part);
      const bool waits =
          std::any_of(op.operands.begin(), op.operands.end(), [&](const std::string& operand) {
            return later.contains(operand) || prefetch_.saved.contains(operand);
          });
      const bool local = rules(op.kind).family == Family::Local && op.donated.empty();
      if (!waits && can_start(op))
        early.collectives.push_back(i);
      for_each_result(op, [&](const std::string& name) {
        makers.emplace(name, i);
        if (waits || !local)
          later.insert(name);
      });
    }
    std::vector<size_t> open = early.collectives;
    while (!open.empty()) {
      const size_t i = open.back();
      open.pop_back();
      for (const std::string& operand : std::get<OpRequest>(body.parts[i]).operands) {
        early.reads_index |= body.begin.index && operand == body.begin.index->name;
        if (const auto maker = makers.find(operand);
            maker != makers.end() && early.before.insert(maker->second).second)
          open.push_back(maker->second);
      }
    }
    return early;
  }

  /// Adds the loop. Its last `ahead` iterations start nothing, so each is a loop of its own. The
  /// very last keeps the name of the loop, and with it those of the results.
  void add(LoopParts body, std::vector<ProgramPart>& made) {
    const int64_t ahead = std::min(prefetch_.ahead, body.begin.upper - body.begin.lower - 1);
    const Early early = this->early(body);
    added_ += early.collectives.size();
    if (early.collectives.empty() || ahead <= 0) {
      append(std::move(body), made);
      return;
    }
    std::vector<std::vector<std::string>> started;  // by iteration, then by collective
    for (int64_t k = 0; k < ahead; ++k)
      started.push_back(start(
          body, early, Where::Before,
          early.reads_index ? integer(body, ".index", body.begin.lower + k, made) : std::string(),
          made));
    const std::string distance =
        early.reads_index ? integer(body, ".distance", ahead, made) : std::string();
    LoopParts first = body;
    rename(first, names_.take_prefix(body.begin.name + ".ahead"));
    first.begin.upper -= ahead;
    std::vector<std::string> results = first.end.results;
    const std::vector<std::vector<std::string>> futures =
        add_first(std::move(first), early, started, distance, made);
    for (int64_t k = 0; k < ahead; ++k) {
      LoopParts one = body;
      one.begin.lower = body.begin.upper - ahead + k;
      one.begin.upper = one.begin.lower + 1;
      if (one.begin.index)
        one.begin.index->attributes = index_attributes(one.begin.lower);
      for (size_t c = 0; c < results.size(); ++c)
        one.begin.carries[c].initial = results[c];
      one.parts = with_dones(body, early, futures[static_cast<size_t>(k)]);
      if (k + 1 < ahead)
        rename(one, names_.take_prefix(body.begin.name + ".rest"));
      results = one.end.results;
      append(std::move(one), made);
    }
  }

  /// Adds the loop whose iterations start collectives of later ones. Returns the futures that its
  /// last iterations leave, by iteration, then by collective.
  std::vector<std::vector<std::string>> add_first(
      LoopParts body, const Early& early, const std::vector<std::vector<std::string>>& started,
      const std::string& distance, std::vector<ProgramPart>& made) {
    std::vector<std::vector<std::string>> params(started.size());
    std::vector<std::vector<std::string>> results(started.size());
    for (size_t k = 0; k < started.size(); ++k)
      for (size_t g = 0; g < early.collectives.size(); ++g) {
        const std::string& name = std::get<OpRequest>(body.parts[early.collectives[g]]).name;
        const std::string_view own = own_name(any_iteration(body.begin.name), name);
        params[k].push_back(take_carry(names_, body.begin.name, std::string(own) + ".started"));
        results[k].push_back(outside(body, params[k].back()));
        body.begin.carries.push_back({params[k].back(), started[k][g]});
        body.end.results.push_back(results[k].back());
      }
    std::vector<ProgramPart> parts;
    std::string index;
    if (early.reads_index) {
      OpRequest add;
      add.name = names_.take(name_in(any_iteration(body.begin.name), "index.ahead"));
      add.kind = OpKind::Add;
      add.operands = {body.begin.index->name, distance};
      add.origin = body.begin.origin;
      add.pass = body.begin.index->pass;
      index = add.name;
      parts.emplace_back(std::move(add));
    }
    params.push_back(start(body, early, Where::In, index, parts));
    for (size_t k = 1; k < params.size(); ++k)
      body.end.yielded.insert(body.end.yielded.end(), params[k].begin(), params[k].end());
    for (ProgramPart& part : with_dones(body, early, params.front()))
      parts.push_back(std::move(part));
    body.parts = std::move(parts);
    append(std::move(body), made);
    return results;
  }

  enum class Where : uint8_t { Before, In };  // the loop

  /// Adds the starts for the iteration of this index, and the ops that make their operands. Returns
  /// their futures.
  std::vector<std::string> start(const LoopParts& body, const Early& early, Where where,
                                 const std::string& index, std::vector<ProgramPart>& made) {
    std::map<std::string, std::string> now;  // by the name in the iteration
    if (early.reads_index)
      now.emplace(body.begin.index->name, index);
    std::vector<std::string> futures;
    const auto copy = [&](size_t i, const char* suffix) -> OpRequest& {
      OpRequest op = std::get<OpRequest>(body.parts[i]);
      for (std::vector<std::string>* names : {&op.operands, &op.donated})
        for (std::string& name : *names)
          if (const auto found = now.find(name); found != now.end())
            name = found->second;
      for_each_result(op, [&](std::string& name) {
        std::string taken = names_.take((where == Where::In ? name : outside(body, name)) + suffix);
        now.emplace(std::exchange(name, taken), taken);
      });
      return std::get<OpRequest>(made.emplace_back(std::move(op)));
    };
    for (const size_t i : early.before)
      copy(i, ".ahead");
    for (const size_t i : early.collectives) {
      OpRequest& op = copy(i, ".start");
      op.issue = Issue::Start;
      op.attributes.set("stream", int64_t{2});
      futures.push_back(op.name);
    }
    return futures;
  }

  /// Returns the parts of the body with dones of these futures in place of the collectives, and
  /// without ops that nothing reads any more.
  static std::vector<ProgramPart> with_dones(const LoopParts& body, const Early& early,
                                             const std::vector<std::string>& futures) {
    std::vector<ProgramPart> parts = body.parts;
    for (size_t g = 0; g < early.collectives.size(); ++g) {
      auto& op = std::get<OpRequest>(parts[early.collectives[g]]);
      OpRequest done;
      done.name = op.name;
      done.kind = OpKind::Done;
      done.operands = {futures[g]};
      done.origin = op.origin;
      done.pass = op.pass;
      done.forward = op.forward;
      op = std::move(done);
    }
    std::set<std::string> read(body.end.yielded.begin(), body.end.yielded.end());
    std::vector<ProgramPart> kept;
    for (size_t i = parts.size(); i-- > 0;) {
      bool is_read = !early.before.contains(i);
      if (!is_read)
        for_each_result(std::get<OpRequest>(parts[i]),
                        [&](const std::string& name) { is_read |= read.contains(name); });
      if (!is_read)
        continue;
      for_each_read(parts[i], [&](const std::string& name) { read.insert(name); });
      kept.push_back(std::move(parts[i]));
    }
    std::reverse(kept.begin(), kept.end());
    return kept;
  }

  std::string integer(const LoopParts& body, const char* suffix, int64_t value,
                      std::vector<ProgramPart>& made) {
    OpRequest op = *body.begin.index;
    op.name = names_.take(body.begin.name + suffix);
    op.attributes = index_attributes(value);
    made.emplace_back(op);
    return op.name;
  }

  const Prefetch& prefetch_;
  UnusedNames& names_;
  size_t added_ = 0;  // collectives that start early, or would in a loop of more iterations
};

}  // namespace

bool prefetch(std::vector<ProgramPart>& parts, const Prefetch& prefetch, UnusedNames& names) {
  Prefetched prefetched(prefetch, names);
  parts = prefetched.in(std::move(parts));
  return prefetched.any();
}

}  // namespace orrery
