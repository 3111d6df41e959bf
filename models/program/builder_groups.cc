// This part of builder.h reads a group of psends and precvs as a start and a done of each.

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/program/builder.h"
#include "models/program/iteration_name.h"
#include "models/program/rules.h"

namespace orrery {

void ProgramBuilder::group(const std::string& name, const std::optional<Origin>& origin,
                           std::vector<OpRequest> parts) {
  (void)define(name, origin_of(name, origin),
               {std::nullopt, true, ThreadId(program_.threads.size() - 1), origin});
  std::vector<OpRequest> dones;
  std::map<std::string, OpRequest*> sends;  // by the names of their tokens
  uint32_t place = 0;
  for (OpRequest& part : parts) {
    if (orrery::rules(part.kind).form.side == Side::Sends)
      sends.emplace(part.name, &part);
    else if (const auto sent = part.operands.empty() ? sends.end() : sends.find(part.operands[0]);
             sent != sends.end()) {
      OpRequest& send = *sent->second;
      if (send.site.empty())
        send.site = site_of_token(name, sent->first);
      part.site = send.site;
      part.operands.clear();
    }
    OpRequest done;
    done.kind = OpKind::Done;
    done.name = part.name;
    done.title = op_title(part.kind, part.issue, part.name);
    done.origin = part.origin;
    done.key_origins = part.key_origins;
    part.title = done.title;
    part.name += kStartInGroup;
    part.issue = Issue::Start;
    part.group = name;
    part.place_in_group = place++;
    done.operands = {part.name};
    dones.push_back(std::move(done));
  }
  for (std::vector<OpRequest>* const requests : {&parts, &dones})
    for (OpRequest& request : *requests)
      op(std::move(request));
}

/// Returns the name of a site for the psend of this token, in the body of the open loops. No
/// scenario is likely to use such a name.
std::string ProgramBuilder::site_of_token(const std::string& group,
                                          const std::string& token) const {
  std::string site = fmt::format("{} of group {}", token, group);
  for (size_t at = site.find(kAnyIndex); at != site.npos; at = site.find(kAnyIndex))
    site.erase(at, kAnyIndex.size());
  for (size_t loop = 0; loop < open_loops_.size(); ++loop)
    site += kAnyIndex;
  return site;
}

}  // namespace orrery
