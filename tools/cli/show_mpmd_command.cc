// orrery show mpmd answers queries about MPMD meshes and arrays.

#include "models/scenario/queries.h"
#include "tools/cli/commands.h"

namespace orrery {

Outcome execute(const ShowMpmdCommand& command, const Terminal& terminal) {
  return answer_queries(command.queries, command.limits, answer_mpmd_query, terminal.out);
}

}  // namespace orrery
