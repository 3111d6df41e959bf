// orrery diff tells where two runs first differ. Each is a scenario, which is run, or a saved
// report.

#include <ostream>

#include "models/scenario/document.h"
#include "models/scenario/reader.h"
#include "tools/cli/commands.h"
#include "tools/cli/inputs.h"
#include "tools/cli/overrides.h"
#include "tools/report/difference.h"
#include "tools/report/run_record.h"
#include "verifier/run.h"

namespace orrery {
namespace {

RunRecord record_from(const std::string& file, const RunOptions& options) {
  const std::string text = load_text(file, options.limits);
  Diagnostics diagnostics(file);
  Limits of_report = options.limits;
  of_report.text = of_report.file;  // the text is dropped, since reports may be large
  const Document document(text, diagnostics, of_report);
  const std::optional<DocumentNode> root = document.root();
  if (root && is_report(*root))
    return read_saved_report(*root, diagnostics);
  refuse_template(file, text, options.limits);
  return record_of(run(read_scenario(file, text, options.limits), options));
}

}  // namespace

Outcome execute(const DiffCommand& command, const Terminal& terminal) {
  const RunRecord a = record_from(command.a, command.options);
  const RunRecord b = record_from(command.b, command.options);
  const RunComparison comparison = compare(a, b);
  const std::string text =
      command.format == Format::Json
          ? difference_json(comparison, a, b)
          : difference_text(comparison, a, b, command.output ? Style() : terminal.style);
  if (command.output)
    write_file(*command.output, text);
  else
    terminal.out << text;
  return comparison.same() ? Outcome::Holds : Outcome::Fails;
}

}  // namespace orrery
