#include "verifier/check/routes.h"

#include <fmt/format.h>

#include "simulator/lower/reach.h"
#include "verifier/check/names.h"

namespace orrery {

Check routes_left(const Program& program, const Lowered& lowered, Paths& healthy, Paths& paths) {
  const std::optional<LostRoute> lost = first_unrouted(lowered, paths);
  if (!lost)
    return passed(CheckKind::RouteLeft, "/faults");
  const Fabric& cut = paths.fabric();
  const Op& op = program.op(program.site(lowered.collective(lost->collective).site).ops.front());
  const std::string sender = cut.vertex_text(lost->ends.sender);
  const std::string receiver = cut.vertex_text(lost->ends.receiver);
  Witness witness = {{"collective", op.name}, {"from", sender}, {"to", receiver}};
  std::string links;
  for (const LinkId id : healthy.between(lost->ends.sender, lost->ends.receiver).links) {
    if (!cut.link(id).cut)
      continue;
    links += (links.empty() ? "" : ", ") + cut.link_text(id);
    witness.emplace_back("cut_link", cut.link_text(id));
  }
  return failed(CheckKind::RouteLeft, pointer_of(op),
                fmt::format("{} cannot end: {} sends to {}, and no route is left since the link "
                            "{} is cut.",
                            quoted(op.name), sender, receiver, links),
                std::move(witness));
}

}  // namespace orrery
