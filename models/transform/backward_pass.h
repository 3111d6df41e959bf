#pragma once

// A `BackwardPass` makes the ops of a backward pass, one after another. vjp and transpose share it.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "models/program/backward.h"
#include "models/program/builder.h"
#include "models/program/program.h"
#include "models/transform/named.h"
#include "models/transform/program_copy.h"

namespace orrery {

/// LoopNeeds says what the backward pass through a loop needs, beyond the loop's carries. It is
/// only known once the pass has gone through the body. So a pass adds what it lacks, sets `grew`,
/// and goes on with zeros in its place. Then another pass begins, which has it.
struct LoopNeeds {
  std::set<size_t> carries;          // that have a cotangent in the body, but none after the loop
  std::set<size_t> shared;           // carries whose cotangent others have too, so that it stays
  std::vector<ValueId> accumulated;  // values from outside of the body that get cotangents in it
  std::vector<ValueId> saved;        // values of the body that each iteration saves
  std::vector<ValueId> before;       // values of the body around it that are read in it
  /// Carries whose yielded value is read. It is the param of the iteration after, which is saved.
  std::set<size_t> next;
  bool position = false;  // of the iteration, counted from 0
};
struct BackwardNeeds {
  explicit BackwardNeeds(const Program& program) : loops(program.loops.size()) {}
  std::vector<LoopNeeds> loops;
  bool grew = false;
};

/// These arrays are there for the backward pass. They have the values that iterations saved. An
/// array has a dimension for each loop that its value is in, the outermost first, and then those of
/// the value.
using SavedValues = std::map<ValueId, std::string>;

/// LoopScalars has the names of s32 scalars that loops read to find their place in arrays. Each
/// pass makes its own before an outermost loop, so that none is held between the passes.
struct LoopScalars {
  std::string zero;
  std::map<size_t, std::string> first;  // the first index, by loop, where it is not 0
  std::map<size_t, std::string> last;   // the number of iterations less one, by loop
};
/// Returns the loop and those in it, in order.
std::vector<size_t> loops_in(const Program& program, size_t loop);
/// Returns whether an array that the loop saves, or one in it, has dimensions beside the
/// iterations.
bool saves_arrays(const Program& program, const BackwardNeeds& needs, size_t loop);

/// Returns the shape of the array of a value of a loop's body.
Shape saved_shape(const Program& program, size_t loop, const Shape& value);

/// Returns the parts of the forward pass, which saves what the backward pass needs of iterations.
/// `saved` gets the names of what it saves.
std::vector<ProgramPart> forward_parts(const Program& program, Checks checks,
                                       const BackwardNeeds& needs, UnusedNames& names,
                                       SavedValues& saved);

/// A BackwardPass goes back through a program's ops, and adds each new op to a draft, which tells
/// its type.
///
/// A loop l goes back as a loop l.bwd with as many iterations. Its first iteration goes back
/// through the last one of l. Each iteration of l saves values in arrays, and l.bwd slices them
/// out. A value that is a part of an array from outside of the loop, or is computed of the index
/// alone, is made again instead. Cotangents of the carries, and of values from outside, are
/// carried.
class BackwardPass final : public BackwardOps {
 public:
  /// `draft` has the arguments of the new program, and the ops that come before the backward pass.
  /// An op that the draft refuses is reported to `refused`, at the op that the pass goes back
  /// through. It ends the pass: go_back() throws InputError.
  BackwardPass(const Program& program, Checks checks, ProgramBuilder& draft, Diagnostics& refused,
               UnusedNames& names, BackwardNeeds& needs, SavedValues saved = {});

  /// Asks for the cotangent of a value. No other value gets one.
  void want(ValueId value) { wanted_.insert(value); }
  bool wants(ValueId value) const { return wanted_.contains(value); }

  /// Makes the pass compute the op again when it needs one of its results. Requires that the op has
  /// results. A message that is received again is sent again too.
  void recompute(OpId op);

  /// Adds a cotangent to those that the value has.
  void add_cotangent(ValueId value, const std::string& cotangent);
  std::optional<std::string> cotangent(ValueId value) const;
  /// Returns the cotangent of the value if it may be overwritten: it has storage of its own, no
  /// other value has it, and nothing has read it yet.
  std::optional<std::string> own_cotangent(ValueId value) const;

  /// Passes the cotangents of the op's results on to its operands. Does nothing if the results have
  /// none, or no operand is wanted. Returns the error, if there is one.
  std::optional<std::string> go_back(OpId op);

  /// Begins to go back through a loop's body, from its end. Returns false, and does nothing, if no
  /// cotangent comes from the loop.
  bool enter(size_t loop);
  /// Stops going back through the body entered last. All its ops have been passed.
  void leave();

  /// Returns the ops and loops that were added, in order.
  const std::vector<ProgramPart>& added() const { return added_; }

  /// Makes the next ops have the name `name`.bwd, stand at `origin`, and go back through `forward`,
  /// an op of the program.
  void name_after(const std::string& name, const std::optional<Origin>& origin,
                  std::optional<OpId> forward);
  /// Returns the op that makes the value. The result is empty for an argument, and for what a loop
  /// carries.
  std::optional<OpId> maker(ValueId value) const;

  std::vector<std::string> add_op(OpKind kind, std::vector<std::string> operands,
                                  Attributes attributes, std::vector<std::string> donated,
                                  size_t results) override;
  ValueType type(const std::string& value) override;
  std::string zeros(const ValueType& type) override;

  /// Returns the name by which the pass can read a value of the program. Computes the value again
  /// if that was asked for.
  std::string residual(ValueId value);

  const Program& program() const { return program_; }
  Checks checks() const { return checks_; }

 private:
  /// A Level is the program outside of all loops, or the backward body of a loop.
  struct Level {
    std::optional<size_t> loop = {};
    LoopBegin begin = {};       // of the backward loop
    std::string position = {};  // of the iteration of `loop`
    // What `begin` carries, in this order.
    std::vector<size_t> carries = {};    // the cotangents of these carries of `loop`
    std::vector<ValueId> sums = {};      // the cotangents of these values from outside
    std::vector<size_t> next = {};       // what these carries of `loop` yielded
    std::set<ValueId> added_after = {};  // of `sums`: those whose earlier cotangent is added later
    std::map<ValueId, std::string> cotangents = {};
    std::map<ValueId, std::string> residuals = {};
  };

  Level& level() { return levels_.back(); }
  const Level& level() const { return levels_.back(); }
  bool is_here(ValueId value) const;
  std::string_view own_name_of(std::string_view name) const;
  std::string here(std::string_view own) const;
  void hold_cotangent(ValueId value, const std::string& cotangent);
  std::string fit(std::string cotangent, const ValueType& operand);
  std::string casted(const std::string& value, OpKind kind, const std::vector<size_t>& axes);
  std::optional<OpId> recomputed_maker(ValueId value) const;
  const Op& made_by(OpId op) const;
  std::string again(ValueId value);
  void make_again(OpId op);
  void make_free_ops_again();
  void make_free_ops_of_written_loops_again(const std::set<BufferId>& donated,
                                            const std::set<ValueId>& arguments);
  bool is_free(const Op& op) const;
  std::set<BufferId> donated_storage() const;
  std::string zeros_by(decltype(add_zeros)* make, const ValueType& type);
  std::string stand_in(ValueId value);
  std::string from_around(ValueId value);
  std::string kept(ValueId value);
  std::string index_of(const Loop& loop);
  std::string slice(ValueId value);
  void add(ProgramPart part);
  void make_scalars(size_t outermost);
  void carry(Level& level, std::string_view name, std::string initial);
  void carry_cotangents(const Loop& loop, const LoopNeeds& needs, Level& level);
  void carry_sums(const LoopNeeds& needs, Level& level);

  const Program& program_;
  const Checks checks_;
  ProgramBuilder& draft_;
  Diagnostics& refused_;
  UnusedNames& names_;
  BackwardNeeds& needs_;
  const SavedValues saved_;
  LoopScalars scalars_;                      // of the outermost loop that the pass is in
  std::vector<std::optional<size_t>> body_;  // by value: the innermost loop in whose body it is
  std::vector<ProgramPart> added_;
  std::vector<Level> levels_;
  std::set<ValueId> wanted_;
  std::set<OpId> recomputed_;
  std::map<ValueId, OpId> makers_;
  /// How often a cotangent that the pass made in storage of its own is a value's cotangent or an
  /// operand. So it may be overwritten by the op that passes on the cotangent of its only value.
  std::map<std::string, size_t> readers_;
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

struct VjpRequest;

// These say which loops go back as loops (kept_loops.cc, peeled.cc).

/// Returns the program whose loops go back as loops, or nothing if all iterations must be written
/// out, or are better written out. They must be where a single iteration is named, by `of` or
/// `recompute`, or by an op on the way, or a loop in a body is to be computed again. They are
/// better where that takes less memory, and not many ops: iterations differ in what they save, or
/// in the carries to which they pass cotangents. Errors in names are left to the program that is
/// written out, which has all names.
std::optional<Program> with_loops(const Program& program, Checks checks, const VjpRequest& request);

/// These change how many iterations are written out.
struct WrittenEnds {
  int64_t more_first = 0;     // so many more first ones
  bool has_few_last = false;  // four last ones, also where there are many carries
};

/// Returns the program with the first and the last iterations of its loops written out, and all of
/// loops of few iterations. A loop that is in another one, or has one in it, stays as it is.
Program peeled(const Program& program, Checks checks, const WrittenEnds& ends);

/// Adds an error for the op that ended a pass.
void report_refused(const InputError& error, Diagnostics& diagnostics);

}  // namespace orrery
