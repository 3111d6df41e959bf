#pragma once

// Whether a runtime takes an imported algorithm: what its parser needs and refuses, its limits, and
// the steps that its kernels lack.

#include <optional>
#include <string>

#include "tools/import/msccl.h"
#include "tools/import/runtime.h"
#include "verifier/report.h"

namespace orrery {

/// What of <algo> the runtime's parser does not read: "coll=\"custom\"", "no outofplace". Empty: it
/// reads it.
std::optional<std::string> other_format(const MscclAlgorithm& algorithm, const Runtime& runtime);

/// Which step the runtime reads and cannot run, for want of a kernel. Empty: it can run all.
std::optional<std::string> lacks_kernel(const MscclAlgorithm& algorithm, const Runtime& runtime);

/// The algorithm with the sizes and the placements for which the runtime uses the file. Unchanged
/// where there are no sizes, which a note or other_format() says.
MscclAlgorithm called_by(MscclAlgorithm algorithm, const Runtime& runtime);

/// The first runtime whose parser reads the file's <algo> and that has kernels for its steps;
/// otherwise the first that reads it, or the first of all.
const Runtime& runtime_of(const MscclAlgorithm& algorithm);

/// RUNTIME.LIMITS: the first thing of each kind that the runtime refuses. Requires a runtime that
/// has limits.
Check runtime_limits(const MscclAlgorithm& algorithm, const Runtime& runtime);

}  // namespace orrery
