#pragma once

// A SiteBuilder has the sites of a program while it is being built. Each collective has a site of
// its own, or ops of several threads share a site by its name. ProgramBuilder asks enter() for the
// site of each collective. It checks each op as it comes: ops that share a
// site have the same kind, parameters and types, and no thread comes twice. finish() checks what
// all ops together decide: it finds the groups, the sides of transfers and the members that never
// come. In the body of a loop, which ops meet depends on trip counts, so such sites are checked
// when their iterations are written (unroll.h).

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/diagnostics.h"
#include "models/program/op_request.h"
#include "models/program/program.h"

namespace orrery {

enum class Side : uint8_t;

/// SiteRequests are the requests of ops to enter their sites, by op.
using SiteRequests = std::map<OpId, OpRequest>;

class SiteBuilder {
 public:
  enum class In : uint8_t { Thread, Body };  // of a loop

  /// `program` is the one being built. It must outlive this object.
  SiteBuilder(const Program& program, Diagnostics& diagnostics)
      : program_(program), diagnostics_(diagnostics) {}

  /// Makes room for so many more sites.
  void expect(size_t sites) { meetings_.reserve(meetings_.size() + sites); }

  /// Returns the site of `op`, a collective, which is about to become the next op of the program's
  /// last thread. Reports an op that does not match the site's other ops, and a second op of the
  /// same thread. In the body of a loop a site that ops share by its name is not checked, since it
  /// depends on the trip counts which ops meet.
  SiteId enter(const Op& op, const OpRequest& request, In in = In::Thread);

  /// Notes to which psend the tokens among the op's results lead. That psend is the op itself, or
  /// the psend of the token among its operands. Requires the program's newest op, not yet added to
  /// it.
  void follow_tokens(const Op& op);
  /// Returns whether the token leads to a psend.
  bool is_sent(ValueId token) const { return sent_at_.contains(token); }

  /// Notes that an op with this site name was refused, so that its site is not checked further.
  void refuse(std::string_view name);

  /// Returns all sites, by id. Reports sites at which a device would meet itself. Sites that are
  /// not checked have no groups.
  std::vector<Site> finish();

 private:
  struct Meeting {
    Site site;  // groups of a shared one are filled in by finish()
    std::vector<ThreadId> threads;
    Origin named;  // where the site has its name
    bool shared = false;
    bool invalid = false;
    bool in_body = false;
    /// The devices of the ops of each side of a transfer. They grow with its ops.
    std::map<Side, std::vector<LogicalId>> devices = {};
  };

  SiteId meet(const Op& op, const OpRequest& request, In in);
  std::optional<SiteId> sent_at(const Op& op) const;
  void add_error(const Op& op, const OpRequest& request, std::string_view key,
                 std::string_view message);
  void match(const Op& op, const OpRequest& request, Meeting& meeting);
  void match_types(const Op& op, const OpRequest& request, const Meeting& meeting, const Op& other);
  void match_operand(const Op& op, const ValueType& theirs, size_t operand,
                     const OpRequest& request, const Meeting& meeting, const Op& other,
                     std::string_view does);
  void find_transfers(Meeting& meeting);
  void find_groups(Meeting& meeting, const Attributes& attributes);
  bool meet_once(const Meeting& meeting, std::span<const LogicalId> devices, Side side);

  const Program& program_;
  Diagnostics& diagnostics_;
  std::vector<Meeting> meetings_;
  std::map<std::string, SiteId, std::less<>> shared_;
  std::map<ValueId, SiteId> sent_at_;  // of tokens that lead to a psend
};

}  // namespace orrery
