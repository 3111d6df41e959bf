#include "verifier/ragged/ragged_tables.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "models/base/compiler.h"
#include "models/base/diagnostics.h"
#include "models/program/collective_types.h"
#include "models/program/dependent_values.h"
#include "models/program/loops.h"
#include "models/program/op_request.h"
#include "models/program/rules.h"
#include "models/scenario/quantity_text.h"
#include "verifier/check/names.h"
#include "verifier/ragged/defined_values.h"

namespace orrery {

namespace {

constexpr std::string_view kAssumed = "assume_sizes";
constexpr std::string_view kDependOnLoop = "they depend on a loop of which iterations are left out";

std::span<const ValueId> tables_among(const Op& op) {
  return std::span(op.operands)
      .subspan(kRaggedTables.first, kRaggedTables.end - kRaggedTables.first);
}

RaggedExtent extent_of(const Program& program, const Site& site) {
  const Op& op = program.op(site.ops.front());
  const auto rows = [&](size_t k) { return program.value(op.operands[k]).type.shape[0]; };
  return {site.groups.front().size(), static_cast<size_t>(rows(kRaggedTables.first)), rows(0),
          rows(1)};
}

/// Returns the sites that exchange by tables, ascending.
std::vector<SiteId> sites_by_tables(const Program& program) {
  std::vector<SiteId> sites;
  for (size_t s = 0; s < program.sites.size(); ++s)
    if (rules(program.op(program.sites[s].ops.front()).kind).form.by_tables)
      sites.emplace_back(s);
  return sites;
}

/// MadeInIteration says of what tables in a loop are made.
struct MadeInIteration {
  /// Whether they are made of values of other iterations, or of the index of a loop.
  bool varies = false;
  /// The values from outside of the loops that they are, or that the iteration makes them of. The
  /// order is the same in each iteration.
  std::vector<ValueId> of = {};

  friend bool operator==(const MadeInIteration&, const MadeInIteration&) = default;
};

/// Returns of what the tables of an op are made.
MadeInIteration made_in_iteration(const Program& program, OpId reader) {
  MadeInIteration made;
  std::set<ValueId> inside;
  const auto add = [&](std::span<const ValueId> values) {
    std::ranges::copy_if(values, std::back_inserter(made.of),
                         [&](ValueId value) { return !inside.contains(value); });
  };
  const std::span<const ValueId> tables = tables_among(program.op(reader));
  for (const OpId op : ops_behind(program, tables)) {
    bool in_loop = false;
    for (const WrittenLoop& loop : program.written_loops)
      for (const LoopIteration& each : loop.written)
        if (each.ops.has(op.index())) {
          in_loop = true;
          made.varies |=
              !each.ops.has(reader.index()) || (loop.has_index && op.index() == each.ops.begin);
        }
    if (!in_loop)
      continue;
    add(program.op(op).operands);
    inside.insert(program.op(op).results.begin(), program.op(op).results.end());
  }
  add(tables);
  return made;
}

class TableStage {
 public:
  TableStage(const Scenario& scenario, const TableOptions& options)
      : options_(options),
        scenario_(scenario),
        program_(scenario.program),
        sites_(sites_by_tables(program_)) {}

  bool need_all_iterations() {
    if (sites_.empty() || !leaves_out_iterations(program_))
      return false;
    find_reasons();
    return std::ranges::any_of(reasons_, [&](const auto& each) {
      return each.second.starts_with(kDependOnLoop) && !may_be_assumed(each.first);
    });
  }

  FoundTables find() {
    if (sites_.empty())
      return {};
    find_reasons();
    assume();
    compute();
    return std::move(found_);
  }

 private:
  const Op& op_of(SiteId site) const { return program_.op(program_.site(site).ops.front()); }
  bool may_be_assumed(SiteId site) const { return op_of(site).attributes.has(kAssumed); }

  /// Finds the sites whose tables are not computed, and why.
  void find_reasons() {
    const std::map<ValueId, OpId> opaque = opaque_values(program_);
    for (const SiteId site : sites_) {
      if (options_.assume == TableOptions::Assume::WhereGiven && may_be_assumed(site))
        reasons_.emplace(site, "data is off");
      for (const OpId op : program_.site(site).ops)
        for (const ValueId table : tables_among(program_.op(op)))
          if (const auto at = opaque.find(table); at != opaque.end())
            reasons_.emplace(site, fmt::format("they depend on {}, an opaque computation",
                                               quoted(program_.op(at->second).name)));
    }
    find_different_iterations();
    std::vector<ValueId> wanted;
    for (const SiteId site : sites_)
      if (reasons_.count(site) == 0)
        add_tables(site, wanted);
    behind_ = ops_behind(program_, wanted);
    if (reason_behind(behind_))
      find_reasons_one_by_one();
  }

  /// Finds sites whose tables may differ between iterations, as those that carries bring. If
  /// iterations are left out, a site is timed with the same tables in all of them. So its tables
  /// must be made in the site's own iteration, of values from outside of the loops.
  void find_different_iterations() {
    if (!leaves_out_iterations(program_))
      return;
    const std::vector<NameInLoops> names = names_in_loops(program_);
    std::map<std::string_view, MadeInIteration> first;  // by the name of the op
    std::set<std::string_view> different;
    for (const SiteId site : sites_)
      for (const OpId op : program_.site(site).ops) {
        const MadeInIteration made = made_in_iteration(program_, op);
        if (made.varies)
          reasons_.emplace(site, depend_on_loop());
        if (made.varies || first.emplace(names[op.index()].op, made).first->second != made)
          different.insert(names[op.index()].op);
      }
    for (const SiteId site : sites_)
      for (const OpId op : program_.site(site).ops)
        if (const std::string& name = names[op.index()].op;
            !name.empty() && different.contains(name))
          reasons_.emplace(site, depend_on_loop());
  }

  /// Finds a reason for each site by itself. The reason may be that of a site before.
  void find_reasons_one_by_one() {
    for (size_t before = sites_.size() + 1; before != reasons_.size();) {
      before = reasons_.size();
      std::vector<ValueId> wanted;
      for (const SiteId site : sites_) {
        if (reasons_.count(site) != 0)
          continue;
        std::vector<ValueId> with_site = wanted;
        add_tables(site, with_site);
        std::vector<OpId> behind = ops_behind(program_, with_site);
        if (const std::optional<std::string> why = reason_behind(behind))
          reasons_.emplace(site, *why);
        else
          wanted = std::move(with_site);
      }
      spread_over_loops();
      behind_ = ops_behind(program_, wanted);
    }
  }

  /// If iterations are left out, gives the reason of one site of a loop to all sites of the loop.
  /// All iterations are alike, so if one assumes its sizes, all do.
  void spread_over_loops() {
    if (!leaves_out_iterations(program_))
      return;
    for (const WrittenLoop& loop : program_.written_loops) {
      const auto in_loop = [&](SiteId site) {
        const size_t op = program_.site(site).ops.front().index();
        return std::any_of(loop.written.begin(), loop.written.end(),
                           [&](const LoopIteration& each) { return each.ops.has(op); });
      };
      const auto given = std::find_if(sites_.begin(), sites_.end(), [&](SiteId site) {
        return reasons_.count(site) != 0 && in_loop(site);
      });
      if (given == sites_.end())
        continue;
      const std::string why = reasons_.at(*given);
      for (const SiteId site : sites_)
        if (in_loop(site))
          reasons_.emplace(site, why);
    }
  }

  std::string depend_on_loop() const {
    const std::string& why = options_.too_many_iterations;
    return fmt::format("{}{}{}", kDependOnLoop,
                       why.empty() ? "" : ", since all are too many: ", why);
  }

  void add_tables(SiteId site, std::vector<ValueId>& values) const {
    for (const OpId op : program_.site(site).ops)
      values.insert(values.end(), tables_among(program_.op(op)).begin(),
                    tables_among(program_.op(op)).end());
  }

  /// Returns why tables that depend on these ops are not computed; empty if they are.
  std::optional<std::string> reason_behind(const std::vector<OpId>& ops) const {
    for (const OpId op : ops)
      if (const auto& site = program_.op(op).site; site && reasons_.count(*site) != 0)
        return fmt::format("they depend on {}, the sizes of whose slices are assumed",
                           quoted(op_of(*site).name));
    const Int128 bytes = bytes_of(program_, ops);
    if (bytes <= options_.budget.count())
      return std::nullopt;
    const std::string taken = bytes > std::numeric_limits<int64_t>::max()
                                  ? "2^63 B or more"
                                  : quantity_text(Bytes(static_cast<int64_t>(bytes)));
    return fmt::format("the values on which they depend take {} and the budget is {}", taken,
                       quantity_text(options_.budget));
  }

  void assume() {
    Diagnostics diagnostics(scenario_.file);
    for (const auto& [site, why] : reasons_) {
      if (!may_be_assumed(site)) {
        refuse(site, why, diagnostics);
        continue;
      }
      const Site& own = program_.site(site);
      const AssumedSizes sizes(op_of(site).attributes.lists(kAssumed), extent_of(program_, own));
      found_.tables[site] = shared({true, std::vector(own.groups.size(), sizes.group())});
      found_.labels.push_back(fmt::format("{}: the sizes of its slices are assumed ({}), since {}",
                                          quoted(op_of(site).name), kAssumed, why));
    }
    diagnostics.throw_if_any();
  }

  void refuse(SiteId site, const std::string& why, Diagnostics& diagnostics) const {
    const Op& op = op_of(site);
    diagnostics.add(origin_of(op.name, op.origin),
                    fmt::format("{}: expected {}, since its tables cannot be computed: {}",
                                op_title(op), quoted(kAssumed), why));
  }

  void compute() {
    DefinedValues values(scenario_, found_.tables, options_.seed);
    for (const OpId op : behind_) {
      const std::optional<SiteId> site = program_.op(op).site;
      if (site && program_.site(*site).ops.front() != op)
        continue;  // done with the first
      if (site && std::binary_search(sites_.begin(), sites_.end(), *site))
        read_tables(*site, values);
      values.run(op);
    }
    Diagnostics diagnostics(scenario_.file);
    for (const SiteId site : sites_)
      if (!read_tables(site, values))
        refuse(site, "they depend on themselves", diagnostics);
    diagnostics.throw_if_any();
  }

  /// Reads the tables of a site. Returns false if not all of its tables have values.
  bool read_tables(SiteId id, DefinedValues& values) {
    if (found_.tables.count(id) != 0)
      return true;
    const Site& site = program_.site(id);
    std::map<LogicalId, const Op*> op_of_device;
    for (const OpId op : site.ops) {
      for (const ValueId table : tables_among(program_.op(op)))
        if (!values.has(table))
          return false;
      for (const LogicalId device : program_.thread(thread_of_[op.index()]).devices)
        op_of_device.emplace(device, &program_.op(op));
    }
    const RaggedExtent extent = extent_of(program_, site);
    SiteTables tables;
    if (!site.absent.empty()) {  // the program cannot end: nothing is exchanged
      tables.groups.assign(site.groups.size(), without_slices(extent));
      found_.tables[id] = shared(std::move(tables));
      return true;
    }
    for (const Group& group : site.groups) {
      RaggedGroup& own =
          tables.groups.emplace_back(RaggedGroup{extent.operand_rows, extent.output_rows, {}});
      for (const LogicalId device : group) {
        std::vector<const Tensor*> operands;
        for (const ValueId table : tables_among(*op_of_device.at(device)))
          operands.push_back(&values.at(table, device));
        own.ranks.push_back(slice_tables(operands));
      }
    }
    found_.checks.push_back(tables_agreed(program_, id, tables));
    if (!found_.checks.back().holds()) {
      found_.agree = false;
      tables.groups.assign(site.groups.size(), without_slices(extent));
    }
    found_.tables[id] = shared(std::move(tables));
    return true;
  }

  /// Returns the tables of an earlier site if they are equal, as they often are in layers and
  /// iterations.
  std::shared_ptr<const SiteTables> shared(SiteTables tables) {
    return *known_.insert(std::make_shared<const SiteTables>(std::move(tables))).first;
  }

  struct ByValue {
    bool operator()(const std::shared_ptr<const SiteTables>& a,
                    const std::shared_ptr<const SiteTables>& b) const {
      return *a < *b;
    }
  };

  const TableOptions& options_;
  const Scenario& scenario_;
  const Program& program_;
  const std::vector<SiteId> sites_;  // ascending
  const std::vector<ThreadId> thread_of_ = issued_by(program_);
  std::map<SiteId, std::string> reasons_;
  std::vector<OpId> behind_;  // what the tables that are computed depend on
  std::set<std::shared_ptr<const SiteTables>, ByValue> known_;
  FoundTables found_;
};

}  // namespace

bool need_all_iterations(const Scenario& scenario, const TableOptions& options) {
  return TableStage(scenario, options).need_all_iterations();
}

FoundTables find_tables(const Scenario& scenario, const TableOptions& options) {
  return TableStage(scenario, options).find();
}

}  // namespace orrery
