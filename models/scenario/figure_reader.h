#pragma once

// This reads the figures of a cluster, and "transport", which has only figures. A figure is a
// value, or an object that also tells where the value comes from: {"value": "450 GB/s", "label":
// "data sheet", "source": "...", "date": "2026-01-31"}.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/diagnostics.h"
#include "models/fabric/fabric.h"
#include "models/scenario/fields.h"

namespace orrery {

class FigureReader {
 public:
  explicit FigureReader(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  /// Returns the amount under `key`, in base units. Labels call the figure `called`: "flops/bf16".
  std::optional<int64_t> quantity(Fields& fields, std::string_view key, Dimension dimension,
                                  QuantityRange range, const std::string& called);

  /// Returns the whole number under `key`.
  std::optional<int64_t> integer(Fields& fields, std::string_view key, std::string_view what,
                                 IntegerRange range, const std::string& called);

  /// Returns the ratio under `key`: "15/16", or "1".
  std::optional<DataShare> share(Fields& fields, std::string_view key, const std::string& called);

  /// Returns the value of a figure: the node itself, or its "value" if it tells its source. The
  /// result is empty if "value" is missing.
  std::optional<DocumentNode> value(DocumentNode figure, const std::string& called);

  /// If the figure `called` has a source, the figure `also` gets the same.
  void share_source(const std::string& called, const std::string& also);
  /// Drops the source of a figure.
  void forget_source(std::string_view called);

  /// Returns the sources of the figures that had one, sorted by figure.
  std::vector<FigureSource> sources() &&;

 private:
  /// Reads the members that tell a figure's source, beside its "value".
  void read_source(Fields& figure, const std::string& called);

  Diagnostics& diagnostics_;
  std::vector<FigureSource> sources_;
};

/// Reads "transport". The result is empty if it is no object.
std::optional<TransportFigures> read_transport(DocumentNode node, FigureReader& figures,
                                               Diagnostics& diagnostics);

}  // namespace orrery
