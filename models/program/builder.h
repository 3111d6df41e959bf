#pragma once

// A ProgramBuilder builds programs, and refuses invalid ones. The scenario reader, generators,
// importers and tests all use it, so the rules of a program are stated once.

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/base/callable.h"
#include "models/base/diagnostics.h"
#include "models/program/op_request.h"
#include "models/program/op_rules.h"
#include "models/program/program.h"
#include "models/program/sites.h"

namespace orrery {

struct Location;
struct OpMemory;
struct OpRules;
struct Parameter;

/// Errors are added to the given Diagnostics, each at the wrong key. An invalid op defines a result
/// of unknown type. Later uses of that result are not reported as well.
class ProgramBuilder {
 public:
  ProgramBuilder(Mesh mesh, Checks checks, Diagnostics& diagnostics);

  ProgramBuilder(const ProgramBuilder&) = delete;  // sites_ refers to program_
  ProgramBuilder& operator=(const ProgramBuilder&) = delete;

  /// Adds a value that exists before the program begins. The value varies over the `varying` axes,
  /// and is on the devices `on`, which ascend, or by default on every device. Requires devices of
  /// the mesh, each once.
  void argument(std::string name, Dtype dtype, Shape local, std::vector<std::string> varying,
                std::optional<Origin> origin = std::nullopt,
                std::optional<std::vector<LogicalId>> on = std::nullopt);
  /// Does the same with any states. Requires one state per mesh axis.
  void argument(std::string name, ValueType type, std::optional<Origin> origin = std::nullopt,
                std::optional<std::vector<LogicalId>> on = std::nullopt);

  /// Begins a thread. Ops go to the thread begun last. Requires devices of the mesh, each once.
  void thread(std::string name, std::vector<LogicalId> devices,
              std::optional<Origin> origin = std::nullopt);

  /// Adds an op. Requires that a thread has begun.
  void op(OpRequest request);

  /// Adds a group of psends and precvs: a start of each, called "NAME.start", on a stream of its
  /// own, and then a done of each, with the given name. So all begin before the first is waited
  /// for, and the group ends when all have ended. A precv may take the token of a psend before it
  /// in the group. These two then meet by a site. Requires sync psends and precvs.
  void group(const std::string& name, const std::optional<Origin>& origin,
             std::vector<OpRequest> parts);

  /// Adds the ops of a reshard, called "NAME.1", "NAME.2", .. after its first result. `keys` has
  /// its places, and the reshard all but sizes and transfers. The collectives of a transfer group
  /// start together, each array's on a stream of its own. Without a threshold all arrays move at
  /// once. Requires specs and groups of the mesh.
  void reshard(Reshard reshard, OpRequest keys);

  /// Returns the type of the value `name` in the thread begun last. Requires that there is a
  /// thread. Returns nothing if `name` is not a value. Then the use of the name at `at` is
  /// reported, unless its op was invalid.
  std::optional<ValueType> type_of(const std::string& name, const Origin& at);

  /// Returns the value `name`, found as in type_of.
  std::optional<ValueId> value_of(const std::string& name, const Origin& at);

  Checks checks() const { return checks_; }

  /// Begins the body of a loop, in the thread begun last or in the body begun last. All that
  /// follows, up to end_loop() or refuse_loop(), belongs to one iteration. Names in the body must
  /// begin with any_iteration() of `name`. `name` has the form of Loop::name.
  void begin_loop(std::string name, int64_t lower, int64_t upper, std::optional<Origin> origin);
  /// Adds the next carry of the loop begun last, and returns its param, which is called `name` in
  /// the body. Requires that the body has no ops yet.
  ValueId carry(std::string name, ValueId initial, const Origin& at);
  /// Returns whether carry() was given this name.
  bool is_carried(const std::string& name) const;
  /// Declares that the op added last is the constant that is the iteration's index.
  void last_op_is_index();
  /// Ends the body begun last. Requires that each carry yields a value of the type of its initial
  /// value. States may differ if they are not checked. `results` are the carries' names after the
  /// loop.
  void end_loop(std::span<const ValueId> yielded, std::span<const std::string> results);
  /// Ends the body begun last after an error in it. The program is not valid.
  void refuse_loop();

  /// Returns whether the program has regions so far, and so values of single iterations.
  bool has_loops() const { return !program_.loops.empty(); }
  /// Adds an exit to the program if the text names a value of a single iteration, "l[3].y".
  void name_exit(std::string_view text);

  /// Returns the requests of ops in loops, and of ops that share a site by its name.
  const SiteRequests& site_requests() const { return site_requests_; }

  /// A Size is the number of ops, values and buffers so far.
  struct Size {
    uint32_t ops = 0;
    uint32_t values = 0;
    uint32_t buffers = 0;
  };
  Size size() const;
  /// Makes room for about so many more ops, which may all be collectives.
  void expect(size_t ops);

  /// Declares the written iterations of a loop. Requires that all their ops were added.
  void loop(WrittenLoop loop);

  /// Declares a loop that has no ops.
  void empty_loop(std::string name);

  /// Makes `name` another name of the value `of`. Requires that `of` is a value.
  void name_also(const std::string& of, std::string name, std::optional<Origin> origin);

  void output(std::string name, std::optional<Origin> origin = std::nullopt);

  /// Reports the names that nothing defined. Requires that no op or output follows.
  void report_undefined();

  /// Makes the checks that need the whole program (sites, undefined and later names), and returns
  /// the program. It is valid only if there are no diagnostics.
  Program finish();

 private:
  /// A Definition is the meaning of a name. If it is neither a value nor void, its op was invalid.
  struct Definition {
    std::optional<ValueId> value;
    bool is_void = false;            // an op without a result
    std::optional<ThreadId> thread;  // empty: an argument
    std::optional<Origin> origin;
    std::optional<OpId> op = {};      // that has the name
    std::optional<size_t> loop = {};  // in whose body it is
    bool is_param = false;
  };
  using Definitions = std::map<std::string, Definition, std::less<>>;
  /// A Taken is a name that is not free, and the place that defines it.
  struct Taken {
    std::string name;
    std::optional<Origin> by;
  };
  /// An InIterations is the meaning of a name with iterations, such as "l[3].m[40].y".
  struct InIterations {
    Definitions::const_iterator found;                   // "l[].m[].y"
    std::vector<std::pair<size_t, int64_t>> iterations;  // loops and indices, the outermost first
  };
  /// An Undefined is a use of a name that was not defined yet.
  struct Undefined {
    Origin origin;
    std::string name;
  };

  Definition* define(const std::string& name, const Origin& at, Definition definition);
  std::optional<ValueId> value_named(const std::string& name, const Origin& at,
                                     std::optional<ThreadId> thread);
  std::string shown(const std::string& name) const;
  std::vector<std::string> names_for_hints(std::string_view unknown) const;
  std::string name_in_iterations(std::string_view name, size_t loop,
                                 FunctionRef<std::optional<int64_t>(const Loop& loop)> index) const;
  std::optional<InIterations> in_iterations(std::string_view body, std::string_view name) const;
  std::optional<Taken> taken_in_loops(Definitions::const_iterator defined);
  std::optional<Definition> exit_named(std::string_view name);
  ValueId add_exit(size_t loop, ValueId inside, int64_t iteration, std::string name);
  ValueId add_alike(std::string name, ValueId like);
  void limit_as(ValueId value, ValueId other);
  bool is_open(size_t loop) const;
  void infer_states(size_t outermost);
  bool infer_states_of(const Op& op);
  bool set_states(ValueId value, const AxisStates& states);
  std::vector<ValueType> operand_types(std::span<const ValueId> operands) const;
  bool check_parameters(OpRequest& request, const OpRules& rules);
  bool check_parameter(const OpRequest& request, const Parameter& parameter);
  std::optional<std::vector<ValueId>> resolve_operands(const OpRequest& request,
                                                       const OpRules& rules);
  std::optional<LogicalId> first_without(ValueId value);
  std::string whereabouts(ValueId value, LogicalId without) const;
  bool check_reshard(Reshard& reshard, const OpRequest& keys);
  bool check_same_site(const Reshard& reshard, const OpRequest& keys);
  std::optional<std::vector<ValueId>> resolve_donated(const OpRequest& request,
                                                      const std::vector<ValueId>& operands);
  /// Results are an op's results before they become values.
  struct Results;
  std::optional<Results> judge_results(const OpRequest& request, const OpRules& rules,
                                       const std::vector<ValueId>& operands, int64_t group_size);
  bool check_in_place(const OpRequest& request, const std::vector<ValueId>& operands,
                      const std::vector<ValueId>& donated, const OpMemory& memory);
  bool check_names(const OpRequest& request, size_t results);
  std::optional<OpId> make_op(const OpRequest& request, const OpRules& rules,
                              const std::vector<ValueId>& operands);
  std::string site_of_token(const std::string& group, const std::string& token) const;
  ValueId add_value(std::string name, ValueType type, Location location);
  void add_error(const OpRequest& request, std::string_view key, std::string_view message);

  Checks checks_;
  Diagnostics& diagnostics_;
  Program program_;
  SiteBuilder sites_;
  /// A Limit says where a value is. A loop's carry is where its initial value is.
  struct Limit {
    std::vector<LogicalId> devices;
    ValueId of;  // an argument, or the result of a reshard
  };
  std::map<ValueId, Limit> limited_;  // the values that are not on every device of their thread
  std::map<ValueId, std::optional<LogicalId>> without_;  // results of first_without for the thread
  Definitions defined_;
  /// The names with brackets, by in_any_iteration(): "l[].y" has "l[].y" and "l[3].y".
  std::map<std::string, std::map<std::string_view, const Definition*>> alike_;
  std::multimap<std::string, size_t, std::less<>> loops_named_;  // regions
  std::vector<size_t> open_loops_;                               // whose bodies are begun
  SiteRequests site_requests_;
  std::vector<Undefined> undefined_;
  std::set<std::pair<std::string, std::string>> undefined_uses_;  // pointer and name of each
};

/// A BodyBuilder makes what an op stands for (OpRules::body): a program of local ops on one device,
/// whose values are numbered.
class BodyBuilder {
 public:
  BodyBuilder() : diagnostics_(""), builder_(Mesh(), Checks::Shapes, diagnostics_) {}

  /// Requires that no op was added.
  void argument(std::string name, Dtype dtype, const Shape& shape);
  /// Adds an op with one result, and returns the name of that.
  std::string op(OpKind kind, std::vector<std::string> operands, Attributes attributes);
  Program finish(const std::vector<std::string>& outputs) &&;

 private:
  Diagnostics diagnostics_;
  ProgramBuilder builder_;
  size_t count_ = 0;  // ops so far
};

}  // namespace orrery
