#include "tools/nccl_tests/reader.h"

#include <algorithm>
#include <utility>

#include "models/base/diagnostics.h"
#include "tools/nccl_tests/draft.h"
#include "tools/nccl_tests/json_reader.h"
#include "tools/nccl_tests/text_reader.h"

namespace orrery {
namespace {

bool is_json(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{';
}

/// nccl-tests writes texts of up to 2 KiB, arguments and environment variables.
constexpr int64_t kLongestText = int64_t{1} << 12U;

}  // namespace

std::vector<NcclTable> read_nccl_tables(std::string_view text, const std::string& file,
                                        const NcclReadOptions& options) {
  Diagnostics diagnostics(file);
  Limits limits = options.limits;
  limits.text = std::max(limits.text, kLongestText);
  std::vector<NcclDraft> drafts = is_json(text) ? read_json_tables(text, diagnostics, limits)
                                                : read_text_tables(text, diagnostics);
  diagnostics.throw_if_any();
  if (drafts.empty())
    diagnostics.add(
        "expected a table of nccl-tests, with a header \"# size count type ..\"; got "
        "none");
  std::vector<NcclTable> tables;
  for (NcclDraft& draft : drafts) {
    draft.table.file = file;
    if (const auto collective = nccl_collective_of_file(file))
      draft.hints.push_back({*collective, "the file's name has it"});
    if (options.collective)
      draft.named.push_back(*options.collective);
    if (options.ranks)
      draft.ranks.push_back(*options.ranks);
    if (std::optional<NcclTable> table = completed(std::move(draft), diagnostics))
      tables.push_back(std::move(*table));
  }
  diagnostics.throw_if_any();
  return tables;
}

}  // namespace orrery
