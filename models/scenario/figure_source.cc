#include "models/scenario/figure_source.h"

#include <string_view>
#include <utility>

namespace orrery {

FigureSource read_figure_source(Fields& fields, const std::string& figure,
                                Diagnostics& diagnostics) {
  FigureSource source{figure, "", "", ""};
  const std::pair<std::string_view, std::string*> texts[] = {
      {"label", &source.label}, {"source", &source.source}, {"date", &source.date}};
  for (const auto& [key, text] : texts) {
    if (const auto member = fields.required(key))
      *text = read_text(*member, "a text", diagnostics).value_or("");
  }
  fields.finish();
  return source;
}

}  // namespace orrery
