#pragma once

// Where the collectives of a program happen, as it is being built: a site of its own for each, or
// one that ops of several threads share by its name.

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/diagnostics.h"
#include "models/program/op_request.h"
#include "models/program/program.h"

namespace orrery {

class SiteBuilder {
 public:
  /// `program` is the one being built; it must outlive this.
  SiteBuilder(const Program& program, Diagnostics& diagnostics)
      : program_(program), diagnostics_(diagnostics) {}

  /// The site of `op`, which is about to become the next op of the last thread of the program.
  /// Reports groups that reach beyond the thread (for a site of its own), an op that does not match
  /// the others of the site, and one that its thread has issued already.
  SiteId enter(const Op& op, const OpRequest& request);

  /// An op with this site name was refused, so that nothing is known about its site.
  void refuse(std::string_view name);

  /// All sites, by id. Reports shared ones whose groups reach beyond their threads, and those at
  /// which a device would meet itself.
  std::vector<Site> finish();

 private:
  struct Meeting {
    Site site;  // of a shared one the groups come with finish()
    std::vector<ThreadId> threads;
    Origin at;     // of the first op's axes
    Origin named;  // where it names the site
    bool shared = false;
    bool invalid = false;
  };

  void match(const Op& op, const OpRequest& request, Meeting& meeting);
  void find_groups(Meeting& meeting, const Attributes& attributes);
  bool meet_once(const Meeting& meeting, std::span<const LogicalId> devices);

  const Program& program_;
  Diagnostics& diagnostics_;
  std::vector<Meeting> meetings_;
  std::map<std::string, SiteId, std::less<>> shared_;
};

}  // namespace orrery
