#pragma once

// A `BackwardPass` makes the ops of a backward pass, one after another. vjp and transpose share it.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "models/program/backward.h"
#include "models/program/builder.h"
#include "models/program/program.h"
#include "models/transform/named.h"

namespace orrery {

/// It goes back through a program's ops, and adds each new op to a draft, which tells its type.
class BackwardPass final : public BackwardOps {
 public:
  /// `draft` has the arguments of the new program, and the ops that come before the backward pass.
  /// An op that the draft refuses is reported to `refused`, at the op that the pass goes back
  /// through. It ends the pass: go_back() throws InputError.
  BackwardPass(const Program& program, Checks checks, ProgramBuilder& draft, Diagnostics& refused);

  /// Asks for the cotangent of a value. No other value gets one.
  void want(ValueId value) { wanted_.insert(value); }
  bool wants(ValueId value) const { return wanted_.contains(value); }

  /// Makes the pass compute the op again when it needs one of its results. Requires that the op has
  /// results. A message that is received again is sent again too.
  void recompute(OpId op);

  /// Adds a cotangent to those that the value has.
  void add_cotangent(ValueId value, const std::string& cotangent);
  std::optional<std::string> cotangent(ValueId value) const;

  /// Passes the cotangents of the op's results on to its operands. Does nothing if the results have
  /// none, or no operand is wanted. Returns the error, if there is one.
  std::optional<std::string> go_back(OpId op);

  /// Returns the ops that were added, in order.
  const std::vector<OpRequest>& added() const { return added_; }

  /// Makes the next ops have the name `name`.bwd, stand at `origin`, and go back through `forward`,
  /// an op of the program.
  void name_after(const std::string& name, const std::optional<Origin>& origin,
                  std::optional<OpId> forward);
  /// Returns the op that makes the value. The result is empty for an argument.
  std::optional<OpId> maker(ValueId value) const;

  std::string op(OpKind kind, std::vector<std::string> operands, Attributes attributes) override;
  ValueType type(const std::string& value) override;
  std::string zeros(const ValueType& type) override;

  /// Returns the name by which the pass can read a value of the program. Computes the value again
  /// if that was asked for.
  std::string residual(ValueId value);

  const Program& program() const { return program_; }
  Checks checks() const { return checks_; }

 private:
  std::string fit(std::string cotangent, const ValueType& operand);
  std::string casted(const std::string& value, OpKind kind, const std::vector<size_t>& axes);
  std::optional<OpId> recomputed_maker(ValueId value) const;
  const Op& made_by(OpId op) const;
  std::string name_again(ValueId value);
  void make_again(OpId op);
  std::string unused(const std::string& name);

  const Program& program_;
  const Checks checks_;
  ProgramBuilder& draft_;
  Diagnostics& refused_;
  std::vector<OpRequest> added_;
  std::set<ValueId> wanted_;
  std::set<OpId> recomputed_;
  std::set<OpId> again_;  // of the ops that were computed again so far
  std::map<ValueId, std::string> cotangents_;
  std::map<ValueId, OpId> makers_;
  std::map<ValueId, std::string> names_again_;
  std::set<std::string> names_;  // that are taken
  // The next ops get their name, origin and forward op from these members.
  std::string after_;
  std::optional<Origin> origin_;
  std::string forward_;
};

/// Returns the type of a value's cotangent: an unreduced value has a reduced one, and a reduced
/// value an unreduced one.
ValueType cotangent_type(ValueType type);

// A cotangent of ID has the name ct_ID, whether the scenario gives it or gets it.

/// Adds an argument per value for its cotangent. Without checked types, it may differ anywhere.
void add_cotangents(const Program& program, Checks checks, const std::vector<NamedAt>& names,
                    const std::vector<ValueId>& values, ProgramBuilder& builder);
/// Gives the pass the cotangents of these values, with which it starts.
void give_cotangents(const std::vector<NamedAt>& names, const std::vector<ValueId>& values,
                     BackwardPass& pass);
/// Returns the names of the cotangents that the pass found, by the names ct_ID that they get. Adds
/// zeros where it found none.
std::map<std::string, std::string> cotangents_of(const std::vector<NamedAt>& names,
                                                 const std::vector<ValueId>& arguments,
                                                 BackwardPass& pass);

// These choose the ops that a pass computes again (recomputed.cc).

/// Returns the ops that the names mean. Each names
///  - an op;
///  - a loop, "l": all ops of its body, except those whose results leave their iteration. So the
///    values that iterations carry are kept, and each iteration is computed again from them.
/// An index that is left out, or is "[]", means all iterations: "l[].y" names an op, and "l.k" and
/// "l[].k" name a loop in loop "l".
/// Adds an error for other names, and for an op without results or one that is started.
std::vector<OpId> recomputed_ops(const Program& program, const std::vector<NamedAt>& names,
                                 Diagnostics& diagnostics);

/// Returns all ops that can be computed again.
std::vector<OpId> all_recomputed_ops(const Program& program);

/// Adds an error for the op that ended a pass.
void report_refused(const InputError& error, Diagnostics& diagnostics);

}  // namespace orrery
