#include "tools/calibrate/op_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "models/base/amount_text.h"
#include "models/base/diagnostics.h"
#include "models/scenario/document.h"
#include "models/scenario/fields.h"
#include "simulator/schedule/durations.h"
#include "tools/calibrate/fit.h"
#include "tools/report/figures.h"

namespace orrery {
namespace {

constexpr std::array<std::string_view, 5> kColumns = {"dtype", "m", "n", "k", "time_us"};
constexpr int64_t kMostSize = int64_t{1} << 30;
constexpr double kMostMicroseconds = 1e9;
constexpr double kPicosecondsOfMicrosecond = 1e6;  // of a microsecond
constexpr size_t kFolds = 8;
constexpr double kShareUnit = 1000;  // a fitted share is a whole number of thousandths

class TableReader {
 public:
  explicit TableReader(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  std::vector<MeasuredProduct> read(DocumentNode root) {
    const std::optional<DocumentNode> table =
        root.kind() == DocumentNode::Kind::Object ? root.find("matmul") : std::nullopt;
    if (!table || table->kind() != DocumentNode::Kind::Object) {
      expected(table.value_or(root), R"(an object "matmul" with "columns" and "rows")",
               diagnostics_);
      return {};
    }
    const std::optional<DocumentNode> columns = table->find("columns");
    const std::optional<DocumentNode> rows = table->find("rows");
    if (!columns || !read_columns(*columns)) {
      expected(columns.value_or(*table),
               R"("columns" with "dtype", "m", "n", "k" and "time_us", each once)", diagnostics_);
      return {};
    }
    if (!rows || rows->kind() != DocumentNode::Kind::List || rows->size() == 0) {
      expected(rows.value_or(*table), R"("rows": a list of at least one row)", diagnostics_);
      return {};
    }
    std::vector<MeasuredProduct> products;
    const DocumentNode list = *rows;
    for (const DocumentNode row : list)
      products.push_back(read_row(row));
    return products;
  }

 private:
  bool read_columns(DocumentNode node) {
    if (node.kind() != DocumentNode::Kind::List)
      return false;
    std::set<std::string_view> seen;
    for (const DocumentNode column : node) {
      if (column.kind() != DocumentNode::Kind::Text)
        return false;
      const auto* const known = std::ranges::find(kColumns, column.text());
      if (known != kColumns.end() && !seen.insert(*known).second)
        return false;
      columns_.push_back(column.text());
    }
    return seen.size() == kColumns.size();
  }

  MeasuredProduct read_row(DocumentNode row) {
    MeasuredProduct product;
    if (row.kind() != DocumentNode::Kind::List || row.size() != columns_.size()) {
      expected(row, fmt::format("a row of {} values, as \"columns\" has", columns_.size()),
               diagnostics_);
      return product;
    }
    size_t column = 0;
    for (const DocumentNode value : row) {
      const std::string& name = columns_[column++];
      if (name == "dtype")
        product.dtype = read_dtype(value);
      else if (name == "time_us")
        product.time = read_time(value);
      else if (name == "m" || name == "n" || name == "k")
        (name == "m"   ? product.m
         : name == "n" ? product.n
                       : product.k) =
            read_integer(value, "a size", {1, kMostSize}, diagnostics_).value_or(1);
    }
    return product;
  }

  Dtype read_dtype(DocumentNode node) {
    const std::optional<Dtype> dtype =
        node.kind() == DocumentNode::Kind::Text ? dtype_named(node.text()) : std::nullopt;
    if (!dtype)
      expected(node, "a dtype such as \"bf16\"", diagnostics_);
    return dtype.value_or(Dtype::F32);
  }

  Duration read_time(DocumentNode node) {
    const std::optional<double> number =
        node.kind() == DocumentNode::Kind::Number ? read_number(node, diagnostics_) : std::nullopt;
    if (!number || !(*number * kPicosecondsOfMicrosecond >= 1) || *number > kMostMicroseconds) {
      expected(node, "a time in us, from 0.000001 to 1000000000", diagnostics_);
      return Duration(1);
    }
    return Duration(std::llround(*number * kPicosecondsOfMicrosecond));
  }

  Diagnostics& diagnostics_;
  std::vector<std::string> columns_;
};

Cost cost_of(const MeasuredProduct& product) {
  const int64_t size = itemsize(product.dtype).count();
  const int64_t result = std::max<int64_t>(size, 2);
  Cost cost;
  cost.flops = Flops(2 * product.m * product.n * product.k);
  cost.bytes = Bytes((product.m * product.k + product.k * product.n) * size +
                     product.m * product.n * result);
  cost.dtype = product.dtype;
  cost.product = {product.m * product.n, product.k};
  return cost;
}

using Products = std::vector<const MeasuredProduct*>;

/// The figures that are fitted, as logarithms: the memory's share, and then four for each dtype.
class Figures {
 public:
  Figures(const DeviceFigures& base, const std::vector<MeasuredProduct>& products) : base_(base) {
    for (const MeasuredProduct& product : products)
      dtypes_.insert(product.dtype);
  }

  std::vector<double> start() const {
    std::vector<double> logs = {std::log(0.8)};
    for (size_t d = 0; d < dtypes_.size(); ++d)
      for (const double figure : {0.8, 128.0, 256.0, 3e6})
        logs.push_back(std::log(figure));
    return logs;
  }

  SearchBounds bounds() const {
    SearchBounds bounds{{std::log(0.05)}, {0}};
    for (size_t d = 0; d < dtypes_.size(); ++d) {
      for (const double least : {0.02, 1.0, 1.0, 1e3})
        bounds.least.push_back(std::log(least));
      for (const double most : {1.0, 1e5, 1e5, 1e9})
        bounds.most.push_back(std::log(most));
    }
    return bounds;
  }

  /// Returns the device with these figures. They are rounded to what a file says.
  DeviceFigures device(std::span<const double> logs) const {
    DeviceFigures device = base_;
    device.memory_share = share(logs[0]);
    size_t at = 1;
    for (const Dtype dtype : dtypes_) {
      FlopsEfficiency& of = device.efficiency[dtype];
      of.share = share(logs[at]);
      of.half_depth = std::llround(std::exp(logs[at + 1]));
      of.half_side = std::llround(std::exp(logs[at + 2]));
      of.launch = Duration(three_digits(std::exp(logs[at + 3])));
      at += 4;
    }
    return device;
  }

 private:
  static Share share(double log) {
    return {std::clamp<int64_t>(std::llround(std::exp(log) * kShareUnit), 1,
                                static_cast<int64_t>(kShareUnit)),
            static_cast<int64_t>(kShareUnit)};
  }

  const DeviceFigures& base_;
  std::set<Dtype> dtypes_;
};

double log_error(const MeasuredProduct& product, const DeviceFigures& device) {
  const Duration modelled = local_duration(cost_of(product), device).takes;
  return std::log(static_cast<double>(std::max<int64_t>(modelled.count(), 1)) /
                  static_cast<double>(product.time.count()));
}

DeviceFigures fitted(const Figures& figures, const Products& products, int evaluations) {
  std::vector<double> logs = figures.start();
  minimise(
      [&](std::span<const double> at) {
        const DeviceFigures device = figures.device(at);
        double sum = 0;
        for (const MeasuredProduct* product : products)
          sum += std::abs(log_error(*product, device));
        return sum / static_cast<double>(products.size());
      },
      figures.bounds(), logs, evaluations);
  return figures.device(logs);
}

ErrorSummary summary_of(const std::vector<double>& errors) {
  ErrorSummary summary;
  summary.times = errors.size();
  for (const double error : errors) {
    summary.mean += std::abs(error) / static_cast<double>(errors.size());
    summary.bias += error / static_cast<double>(errors.size());
    if (std::abs(error) > std::abs(summary.worst))
      summary.worst = error;
  }
  return summary;
}

double error_of(const MeasuredProduct& product, const DeviceFigures& device) {
  return std::expm1(log_error(product, device));
}

/// Returns the errors of products whose shapes were left out, by dtype.
std::map<Dtype, std::vector<double>> left_out_errors(const Figures& figures,
                                                     const std::vector<MeasuredProduct>& products,
                                                     int evaluations) {
  std::map<std::pair<int64_t, int64_t>, size_t> folds;  // by n and k
  for (const MeasuredProduct& product : products)
    folds.emplace(std::pair(product.n, product.k), 0);
  size_t next = 0;
  for (auto& [shape, fold] : folds)
    fold = next++ % kFolds;
  std::map<Dtype, std::vector<double>> errors;
  for (size_t fold = 0; fold < kFolds; ++fold) {
    Products kept;
    Products left_out;
    for (const MeasuredProduct& product : products)
      (folds.at({product.n, product.k}) == fold ? left_out : kept).push_back(&product);
    if (kept.empty() || left_out.empty())
      continue;
    const DeviceFigures device = fitted(figures, kept, evaluations);
    for (const MeasuredProduct* product : left_out)
      errors[product->dtype].push_back(error_of(*product, device));
  }
  return errors;
}

std::string range_text(const std::vector<MeasuredProduct>& products, int64_t MeasuredProduct::*of) {
  const auto [least, most] = std::ranges::minmax(products, {}, of);
  return fmt::format("{} to {}", least.*of, most.*of);
}

std::string domain(const DtypeFit& fit) {
  return fmt::format("m {}, n {}, k {}", range_text(fit.products, &MeasuredProduct::m),
                     range_text(fit.products, &MeasuredProduct::n),
                     range_text(fit.products, &MeasuredProduct::k));
}

std::string share_text(Share share) {
  return orrery::share_text(static_cast<double>(share.part) / static_cast<double>(share.whole));
}

}  // namespace

std::vector<MeasuredProduct> read_op_table(const std::string& file, const std::string& text,
                                           const Limits& limits) {
  Diagnostics diagnostics(file);
  const Document document(text, diagnostics, limits);
  std::vector<MeasuredProduct> products;
  if (const std::optional<DocumentNode> root = document.root())
    products = TableReader(diagnostics).read(*root);
  diagnostics.throw_if_any();
  return products;
}

OpFit fit_ops(const Cluster& base, const std::vector<MeasuredProduct>& products,
              const OpFitOptions& options) {
  const Figures figures(base.device, products);
  Products all;
  for (const MeasuredProduct& product : products)
    all.push_back(&product);
  OpFit fit{base, {}, {}};
  fit.cluster.device = fitted(figures, all, options.evaluations);
  fit.memory_share = fit.cluster.device.memory_share;
  std::map<Dtype, std::vector<double>> errors;
  for (const MeasuredProduct& product : products) {
    fit.dtypes[product.dtype].products.push_back(product);
    errors[product.dtype].push_back(error_of(product, fit.cluster.device));
  }
  std::map<Dtype, std::vector<double>> left_out;
  if (options.validates)
    left_out = left_out_errors(figures, products, options.evaluations);
  std::vector<FigureSource>& sources = fit.cluster.sources;
  const auto add_source = [&](std::string figure, std::string source) {
    std::erase_if(sources, [&](const FigureSource& each) { return each.figure == figure; });
    sources.push_back(
        {std::move(figure), std::string(kCalibrated), std::move(source), options.date});
  };
  for (auto& [dtype, of] : fit.dtypes) {
    of.efficiency = fit.cluster.device.efficiency.at(dtype);
    of.errors = summary_of(errors.at(dtype));
    of.left_out = summary_of(left_out[dtype]);
    for (const char* const figure : {"share", "half_depth", "half_side", "launch"})
      add_source(fmt::format("efficiency/{}/{}", name(dtype), figure),
                 fmt::format("{} products, {}, {}; mean error {}", of.products.size(), domain(of),
                             options.source, percent(of.errors.mean)));
  }
  add_source("efficiency/memory", fmt::format("{} products, {}", products.size(), options.source));
  std::sort(sources.begin(), sources.end(),
            [](const FigureSource& a, const FigureSource& b) { return a.figure < b.figure; });
  return fit;
}

std::string op_fit_text(const OpFit& fit, const Style& style) {
  constexpr Table::Align kLeft = Table::Align::Left;
  constexpr Table::Align kRight = Table::Align::Right;
  Table figures({kLeft, kRight, kRight, kRight, kRight});
  figures.row({"dtype", "share of peak", "half at depth", "half at side", "launch"});
  Table errors({kLeft, kRight, kRight, kRight, kRight, kRight, kLeft});
  errors.row({"dtype", "products", "mean", "bias", "worst", "left out", "measured"});
  for (const auto& [dtype, of] : fit.dtypes) {
    figures.row({std::string(name(dtype)), share_text(of.efficiency.share),
                 std::to_string(of.efficiency.half_depth), std::to_string(of.efficiency.half_side),
                 time_text(*of.efficiency.launch, style.ascii())});
    errors.row({std::string(name(dtype)), std::to_string(of.errors.times), percent(of.errors.mean),
                signed_percent(of.errors.bias), signed_percent(of.errors.worst),
                of.left_out.times > 0 ? percent(of.left_out.mean) : "", domain(of)});
  }
  return style.bold("Figures") + "\n" + figures.text(style, 2) +
         fmt::format("  memory: {} of its bandwidth\n\n", share_text(fit.memory_share)) +
         style.bold("Errors") +
         ", modelled / measured - 1; left out: the mean of shapes that were not fitted to\n" +
         errors.text(style, 2);
}

}  // namespace orrery
