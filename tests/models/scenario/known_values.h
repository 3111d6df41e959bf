#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/base/diagnostics.h"
#include "models/scenario/document.h"
#include "models/scenario/expression.h"

namespace orrery::test {

/// The names that formulas of a test may use, with their values: the members of a JSON object.
struct KnownValues {
  explicit KnownValues(std::string object)
      : text(std::move(object)), diagnostics("known"), document(text, diagnostics) {
    const DocumentNode root = *document.root();
    for (const DocumentNode member : root) {
      names.push_back(member.key());
      values.push_back(template_value(member));
    }
  }
  KnownValues(const KnownValues&) = delete;
  KnownValues& operator=(const KnownValues&) = delete;

  std::string text;
  Diagnostics diagnostics;
  Document document;
  std::vector<std::string> names;
  std::vector<TemplateValue> values;
};

}  // namespace orrery::test
