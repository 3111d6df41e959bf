#include "models/base/check.h"
#include "models/base/diagnostics.h"
#include "models/scenario/document.h"
#include "models/scenario/queries.h"
#include "tests/fuzz/targets.h"

namespace orrery::test {

void fuzz_sharding_query(std::string_view text) {
  text = text.substr(0, static_cast<size_t>(kFuzzLimits.file));
  const QueryAnswer answer = answer_sharding_query(text, kFuzzLimits);
  ORRERY_CHECK(answer.line.find('\n') == std::string::npos, "an answer is one line");
  Diagnostics diagnostics("answer");
  // A message may name a control character of the line, escaped.
  const Document document(answer.line, diagnostics, {.text = int64_t{1} << 20},
                          ControlCharacters::Accepted);
  diagnostics.throw_if_any();
  const std::optional<DocumentNode> error = document.root()->find("error");
  ORRERY_CHECK(!error || !error->find("message")->text().empty(), "a refusal says why");
  ORRERY_CHECK(answer.is_query == (!error || error->find("stage")->text() != "query"),
               "only a line that is no query has an error of its stage");
}

}  // namespace orrery::test
