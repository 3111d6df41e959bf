#pragma once

// Says in plain sentences why an op ran when it did, and why a value is held as long as it is.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/analyze/why.h"
#include "tools/report/style.h"
#include "verifier/report.h"

namespace orrery {

/// This is the explanation of an id. An op and its first result have the same id. The id of another
/// result stands for the op that makes it.
struct Explanation {
  std::string id;
  std::optional<OpId> op;
  /// This device is explained: the one on which the op ended last, the lowest id on a tie.
  LogicalId device;
  std::vector<Reason> chain;  // empty where the program does not end
  std::optional<ValueId> value;
  std::vector<ValueLife> lives;
};

/// Returns the ids that can be asked for.
std::vector<std::string_view> explainable(const Program& program);

/// Explains an id. Requires one that can be asked for.
Explanation explain(const Report& report, const std::string& id);
/// Explains several ids, with one run of the timing.
std::vector<Explanation> explain(const Report& report, const std::vector<std::string>& ids);

/// Returns a reason as a sentence: "device 6 sends 8 KiB of g to device 0, as it has entered".
std::string sentence(const Report& report, const Reason& reason);
/// Returns the names of the other values in the storage. Iterations of a loop have one name,
/// "l[].y", so the list does not grow with the trip count.
std::vector<std::string> names_together(const Program& program, const ValueLife& life);
/// Returns a life as a sentence: "on devices 0-7 it is held from g to the end of the program, since
/// it is an output".
std::string sentence(const Report& report, const ValueLife& life, const Style& style);

/// Says which links of a chain are shown: all of them, or `most` / 2 at each end if there are more.
struct ShownLinks {
  size_t at_begin = 0;
  size_t left_out = 0;  // after these; the others follow
};
ShownLinks shown_links(const std::vector<Reason>& chain, size_t most);

/// A JSON report has at most this many links of a chain: about 3 MB.
inline constexpr size_t kLinksInJson = 10'000;

/// Returns the explanation as text. A long chain is shown by its beginning and its end.
std::string explanation_text(const Report& report, const Explanation& explanation,
                             const Style& style);

}  // namespace orrery
