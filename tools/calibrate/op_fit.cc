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
#include "models/program/local_parameters.h"
#include "models/scenario/document.h"
#include "models/scenario/fields.h"
#include "simulator/schedule/durations.h"
#include "tools/calibrate/fit.h"
#include "tools/report/figures.h"

namespace orrery {
namespace {

/// A table of measured ops.
struct OpTable {
  MeasuredKind work;
  std::string_view key;  // in the file
  std::span<const std::string_view> sizes;
  std::vector<size_t> shape;   // the sizes that ops of one shape share
  std::optional<Dtype> dtype;  // of a table that has no such column
};

const std::vector<OpTable>& op_tables() {
  static const std::vector<OpTable> kTables = {
      {MeasuredKind::Product, "matmul", kProductSizes, {1, 2}, std::nullopt},
      {MeasuredKind::Attention, "attention", kAttentionSizes, {2, 3, 4}, Dtype::BF16}};
  return kTables;
}

const OpTable& table_of(MeasuredKind work) {
  return op_tables()[static_cast<size_t>(work)];
}

constexpr int64_t kMostSize = int64_t{1} << 30;
constexpr double kMostMicroseconds = 1e9;
constexpr double kPicosecondsOfMicrosecond = 1e6;
constexpr size_t kFolds = 8;
constexpr double kShareUnit = 1000;  // a fitted share is a whole number of thousandths

class TableReader {
 public:
  TableReader(const OpTable& table, Diagnostics& diagnostics)
      : table_(table), diagnostics_(diagnostics) {}

  std::vector<MeasuredOp> read(DocumentNode node) {
    std::vector<MeasuredOp> ops;
    if (!is_object(node, R"(an object with "columns" and "rows")", diagnostics_))
      return ops;
    const std::optional<DocumentNode> columns = node.find("columns");
    const std::optional<DocumentNode> rows = node.find("rows");
    if (!columns || !read_columns(*columns)) {
      expected(columns.value_or(node),
               fmt::format("\"columns\" with {} and \"time_us\", each once",
                           fmt::join(required_columns(), ", ")),
               diagnostics_);
      return ops;
    }
    if (!rows || rows->kind() != DocumentNode::Kind::List || rows->size() == 0) {
      expected(rows.value_or(node), R"("rows": a list of at least one row)", diagnostics_);
      return ops;
    }
    const DocumentNode list = *rows;
    for (const DocumentNode row : list)
      ops.push_back(read_row(row));
    return ops;
  }

 private:
  std::vector<std::string> required_columns() const {
    std::vector<std::string> columns;
    if (!table_.dtype)
      columns.emplace_back("\"dtype\"");
    for (const std::string_view size : table_.sizes)
      columns.push_back(in_quotes(size));
    return columns;
  }

  bool read_columns(DocumentNode node) {
    if (node.kind() != DocumentNode::Kind::List)
      return false;
    std::set<std::string> seen;
    for (const DocumentNode column : node) {
      if (column.kind() != DocumentNode::Kind::Text)
        return false;
      const bool known = column.text() == "dtype" || column.text() == "time_us" ||
                         std::ranges::count(table_.sizes, column.text()) > 0;
      if (known && !seen.insert(column.text()).second)
        return false;
      columns_.push_back(column.text());
    }
    return seen.count("time_us") > 0 && (table_.dtype || seen.count("dtype") > 0) &&
           std::ranges::all_of(table_.sizes, [&](std::string_view size) {
             return seen.count(std::string(size)) > 0;
           });
  }

  MeasuredOp read_row(DocumentNode row) {
    MeasuredOp op{table_.work, table_.dtype.value_or(Dtype::F32),
                  std::vector<int64_t>(table_.sizes.size(), 1), Duration(1)};
    if (row.kind() != DocumentNode::Kind::List || row.size() != columns_.size()) {
      expected(row, fmt::format("a row of {} values, as \"columns\" has", columns_.size()),
               diagnostics_);
      return op;
    }
    size_t column = 0;
    for (const DocumentNode value : row) {
      const std::string& name = columns_[column++];
      const auto size = std::ranges::find(table_.sizes, name);
      if (name == "dtype")
        op.dtype = read_dtype(value);
      else if (name == "time_us")
        op.time = read_time(value);
      else if (size != table_.sizes.end())
        op.sizes[static_cast<size_t>(size - table_.sizes.begin())] =
            read_integer(value, "a size", {1, kMostSize}, diagnostics_).value_or(1);
    }
    check(op, row);
    return op;
  }

  /// Refuses an op that does not exist, or is too large.
  void check(const MeasuredOp& op, DocumentNode row) {
    if (op.work == MeasuredKind::Attention &&
        (!is_float(op.dtype) || op.sizes[2] % op.sizes[3] != 0))
      expected(row, "attention of floats, with heads that are a multiple of kv_heads",
               diagnostics_);
    try {
      cost_of(op);
    } catch (const Overflow&) {
      expected(row, "sizes of less than 2^63 flops", diagnostics_);
    }
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

  const OpTable& table_;
  Diagnostics& diagnostics_;
  std::vector<std::string> columns_;
};

Cost product_cost(const MeasuredOp& op) {
  const int64_t m = op.sizes[0];
  const int64_t n = op.sizes[1];
  const int64_t k = op.sizes[2];
  const int64_t size = itemsize(op.dtype).count();
  const int64_t result = std::max<int64_t>(size, 2);
  Cost cost;
  const int64_t results = checked_multiply(m, n);
  const int64_t operands = checked_multiply(m, k) + checked_multiply(k, n);
  cost.flops = Flops(checked_multiply(2, checked_multiply(results, k)));
  cost.bytes = Bytes(checked_multiply(operands, size)) + Bytes(checked_multiply(results, result));
  cost.dtype = op.dtype;
  cost.product = {results, k, m, n};
  return cost;
}

using Ops = std::vector<const MeasuredOp*>;
using Kind = std::pair<MeasuredKind, Dtype>;

Kind kind_of(const MeasuredOp& op) {
  return {op.work, op.dtype};
}

/// A figure that is fitted, as a logarithm.
struct Figure {
  double start, least, most;
  void (*set)(double value, DeviceFigures& device, Dtype dtype);
};

Share share(double value) {
  return {
      std::clamp<int64_t>(std::llround(value * kShareUnit), 1, static_cast<int64_t>(kShareUnit)),
      static_cast<int64_t>(kShareUnit)};
}

AttentionEfficiency& attention(DeviceFigures& device, Dtype dtype) {
  std::optional<AttentionEfficiency>& of = device.efficiency[dtype].attention;
  return of ? *of : of.emplace();
}

constexpr Figure kMemoryShare = {0.8, 0.05, 1, [](double value, DeviceFigures& device, Dtype) {
                                   device.memory_share = share(value);
                                 }};

/// Returns the figures of a kind of ops. They are rounded to what a file says.
std::span<const Figure> figures_of(MeasuredKind work) {
  static constexpr std::array<Figure, 4> kOfProducts = {
      Figure{0.8, 0.02, 1,
             [](double value, DeviceFigures& device, Dtype dtype) {
               device.efficiency[dtype].share = share(value);
             }},
      Figure{128, 1, 1e5,
             [](double value, DeviceFigures& device, Dtype dtype) {
               device.efficiency[dtype].half_depth = std::llround(value);
             }},
      Figure{256, 1, 1e5,
             [](double value, DeviceFigures& device, Dtype dtype) {
               device.efficiency[dtype].half_side = std::llround(value);
             }},
      Figure{3e6, 1e3, 1e9, [](double value, DeviceFigures& device, Dtype dtype) {
               device.efficiency[dtype].launch = Duration(three_digits(value));
             }}};
  static constexpr std::array<Figure, 3> kOfAttention = {
      Figure{0.6, 0.02, 1,
             [](double value, DeviceFigures& device, Dtype dtype) {
               attention(device, dtype).share = share(value);
             }},
      Figure{512, 1, 1e5,
             [](double value, DeviceFigures& device, Dtype dtype) {
               attention(device, dtype).half_keys = std::llround(value);
             }},
      Figure{1e7, 1e3, 1e9, [](double value, DeviceFigures& device, Dtype dtype) {
               attention(device, dtype).launch = Duration(three_digits(value));
             }}};
  return work == MeasuredKind::Product ? std::span<const Figure>(kOfProducts) : kOfAttention;
}

/// Returns whether the ops tell the memory's share. Some products are bound by memory; attention is
/// not.
bool fits_memory(const std::vector<MeasuredOp>& ops) {
  return std::ranges::any_of(ops,
                             [](const MeasuredOp& op) { return op.work == MeasuredKind::Product; });
}

/// The figures that a fit searches: the memory's share, if the ops tell it, and then those of each
/// kind and dtype.
class Figures {
 public:
  Figures(const DeviceFigures& base, const std::vector<MeasuredOp>& ops) : base_(base) {
    std::set<Kind> works;
    for (const MeasuredOp& op : ops)
      works.insert(kind_of(op));
    if (fits_memory(ops))
      figures_.emplace_back(kMemoryShare, Dtype::F32);
    for (const auto& [work, dtype] : works)
      for (const Figure& figure : figures_of(work))
        figures_.emplace_back(figure, dtype);
  }

  std::vector<double> start() const {
    std::vector<double> logs;
    for (const auto& [figure, dtype] : figures_)
      logs.push_back(std::log(figure.start));
    return logs;
  }

  SearchBounds bounds() const {
    SearchBounds bounds;
    for (const auto& [figure, dtype] : figures_) {
      bounds.least.push_back(std::log(figure.least));
      bounds.most.push_back(std::log(figure.most));
    }
    return bounds;
  }

  /// Returns the device with these figures.
  DeviceFigures device(std::span<const double> logs) const {
    DeviceFigures device = base_;
    for (size_t i = 0; i < logs.size(); ++i)
      figures_[i].first.set(std::exp(logs[i]), device, figures_[i].second);
    return device;
  }

 private:
  const DeviceFigures& base_;
  std::vector<std::pair<Figure, Dtype>> figures_;
};

double log_error(const MeasuredOp& op, const DeviceFigures& device) {
  const Duration modelled = local_duration(cost_of(op), device).takes;
  return std::log(static_cast<double>(std::max<int64_t>(modelled.count(), 1)) /
                  static_cast<double>(op.time.count()));
}

DeviceFigures fitted(const Figures& figures, const Ops& ops, int evaluations) {
  std::vector<double> logs = figures.start();
  minimise(
      [&](std::span<const double> at) {
        const DeviceFigures device = figures.device(at);
        double sum = 0;
        for (const MeasuredOp* op : ops)
          sum += std::abs(log_error(*op, device));
        return sum / static_cast<double>(ops.size());
      },
      figures.bounds(), logs, evaluations);
  return figures.device(logs);
}

/// Returns the errors of ops whose shapes were left out, by kind and dtype.
std::map<Kind, std::vector<double>> left_out_errors(const Figures& figures,
                                                    const std::vector<MeasuredOp>& ops,
                                                    int evaluations) {
  using Shape = std::pair<MeasuredKind, std::vector<int64_t>>;
  const auto shape_of = [](const MeasuredOp& op) {
    Shape shape(op.work, {});
    for (const size_t size : table_of(op.work).shape)
      shape.second.push_back(op.sizes[size]);
    return shape;
  };
  std::map<Shape, size_t> folds;
  for (const MeasuredOp& op : ops)
    folds.emplace(shape_of(op), 0);
  size_t next = 0;
  for (auto& [shape, fold] : folds)
    fold = next++ % kFolds;
  std::map<Kind, std::vector<double>> errors;
  for (size_t fold = 0; fold < kFolds; ++fold) {
    Ops kept;
    Ops left_out;
    for (const MeasuredOp& op : ops)
      (folds.at(shape_of(op)) == fold ? left_out : kept).push_back(&op);
    if (kept.empty() || left_out.empty())
      continue;
    const DeviceFigures device = fitted(figures, kept, evaluations);
    for (const MeasuredOp* op : left_out)
      errors[kind_of(*op)].push_back(error_of(*op, device));
  }
  return errors;
}

/// Returns the sizes of the ops.
CalibratedSizes calibrated_sizes(const WorkFit& fit) {
  CalibratedSizes sizes;
  const OpTable& table = table_of(fit.ops.front().work);
  for (size_t i = 0; i < table.sizes.size(); ++i) {
    const auto size = [&](const MeasuredOp& op) { return op.sizes[i]; };
    const auto [least, most] = std::ranges::minmax(fit.ops, {}, size);
    sizes.emplace(table.sizes[i], SizeRange{size(least), size(most)});
  }
  return sizes;
}

/// Returns the sizes of the ops as a text: "m 64 to 32768, n 32 to 65536, k 128".
std::string domain(const WorkFit& fit) {
  const CalibratedSizes sizes = calibrated_sizes(fit);
  std::vector<std::string> ranges;
  for (const std::string_view name : table_of(fit.ops.front().work).sizes) {
    const SizeRange& range = sizes.find(name)->second;
    ranges.push_back(range.least == range.most
                         ? fmt::format("{} {}", name, range.least)
                         : fmt::format("{} {} to {}", name, range.least, range.most));
  }
  return fmt::format("{}", fmt::join(ranges, ", "));
}

std::string share_text(Share share) {
  return orrery::share_text(static_cast<double>(share.part) / static_cast<double>(share.whole));
}

}  // namespace

Cost cost_of(const MeasuredOp& op) {
  if (op.work == MeasuredKind::Product)
    return product_cost(op);
  return attention_cost({.batch = op.sizes[0],
                         .queries = op.sizes[1],
                         .keys = op.sizes[1],
                         .heads = op.sizes[2],
                         .key_heads = op.sizes[3],
                         .depth = op.sizes[4],
                         .causal = true},
                        op.dtype, Pass::Forward);
}

double error_of(const MeasuredOp& op, const DeviceFigures& device) {
  return std::expm1(log_error(op, device));
}

std::string work_text(const MeasuredOp& op) {
  return fmt::format("{} {}", table_of(op.work).key, name(op.dtype));
}

bool has_op_table(const std::string& text, const Limits& limits) {
  Diagnostics diagnostics("");
  const Document document(text, diagnostics, limits, ControlCharacters::Accepted);
  const std::optional<DocumentNode> root = document.root();
  return root && root->kind() == DocumentNode::Kind::Object &&
         std::ranges::any_of(
             op_tables(), [&](const OpTable& table) { return root->find(table.key).has_value(); });
}

std::vector<MeasuredOp> read_op_table(const std::string& file, const std::string& text,
                                      const Limits& limits) {
  Diagnostics diagnostics(file);
  const Document document(text, diagnostics, limits);
  std::vector<MeasuredOp> ops;
  if (const std::optional<DocumentNode> root = document.root()) {
    bool found = false;
    for (const OpTable& table : op_tables()) {
      const std::optional<DocumentNode> node =
          root->kind() == DocumentNode::Kind::Object ? root->find(table.key) : std::nullopt;
      if (!node)
        continue;
      found = true;
      for (MeasuredOp& op : TableReader(table, diagnostics).read(*node))
        ops.push_back(std::move(op));
    }
    if (!found)
      expected(*root, R"(an object with "matmul" or "attention")", diagnostics);
  }
  diagnostics.throw_if_any();
  return ops;
}

OpFit fit_ops(const Cluster& base, const std::vector<MeasuredOp>& ops,
              const OpFitOptions& options) {
  const Figures figures(base.device, ops);
  Ops all;
  for (const MeasuredOp& op : ops)
    all.push_back(&op);
  OpFit fit{base, {}};
  fit.cluster.device = fitted(figures, all, options.evaluations);
  std::map<Kind, std::vector<double>> left_out;
  if (options.validates)
    left_out = left_out_errors(figures, ops, options.evaluations);
  std::map<Kind, WorkFit> works;
  for (const MeasuredOp& op : ops)
    works[kind_of(op)].ops.push_back(op);
  std::vector<FigureSource>& sources = fit.cluster.sources;
  const auto add_source = [&](std::string figure, std::string source) {
    std::erase_if(sources, [&](const FigureSource& each) { return each.figure == figure; });
    sources.push_back(
        {std::move(figure), std::string(kCalibrated), std::move(source), options.date});
  };
  for (auto& [work, of] : works) {
    std::vector<double> errors;
    for (const MeasuredOp& op : of.ops)
      errors.push_back(error_of(op, fit.cluster.device));
    of.errors = summary(errors);
    of.left_out = summary(left_out[work]);
    const bool products = work.first == MeasuredKind::Product;
    FlopsEfficiency& efficiency = fit.cluster.device.efficiency[work.second];
    (products ? efficiency.calibrated : efficiency.attention->calibrated) = calibrated_sizes(of);
    const std::vector<std::string_view> keys =
        products ? std::vector<std::string_view>{"share", "half_depth", "half_side", "launch"}
                 : std::vector<std::string_view>{"attention/share", "attention/half_keys",
                                                 "attention/launch"};
    for (const std::string_view key : keys)
      add_source(
          fmt::format("efficiency/{}/{}", name(work.second), key),
          fmt::format("{}, {}, {}; mean error {}",
                      counted(static_cast<int64_t>(of.ops.size()), products ? "product" : "call"),
                      domain(of), options.source, percent(of.errors.mean)));
    fit.works.push_back(std::move(of));
  }
  if (fits_memory(ops))
    add_source(
        "efficiency/memory",
        fmt::format("{}, {}", counted(static_cast<int64_t>(ops.size()), "op"), options.source));
  std::sort(sources.begin(), sources.end(),
            [](const FigureSource& a, const FigureSource& b) { return a.figure < b.figure; });
  return fit;
}

std::string op_fit_text(const OpFit& fit, const Style& style) {
  constexpr Table::Align kLeft = Table::Align::Left;
  constexpr Table::Align kRight = Table::Align::Right;
  Table figures({kLeft, kRight, kLeft, kRight});
  figures.row({"ops", "share of peak", "half of it at", "launch"});
  Table errors({kLeft, kRight, kRight, kRight, kRight, kRight, kLeft});
  errors.row({"ops", "times", "mean", "bias", "worst", "left out", "measured"});
  for (const WorkFit& of : fit.works) {
    const MeasuredOp& first = of.ops.front();
    const FlopsEfficiency& efficiency = fit.cluster.device.efficiency.at(first.dtype);
    const bool products = first.work == MeasuredKind::Product;
    figures.row(
        {work_text(first), share_text(products ? efficiency.share : efficiency.attention->share),
         products ? fmt::format("depth {}, side {}", efficiency.half_depth, efficiency.half_side)
                  : fmt::format("{} keys", efficiency.attention->half_keys),
         time_text(*(products ? efficiency.launch : efficiency.attention->launch), style.ascii())});
    errors.row({work_text(first), std::to_string(of.errors.times), percent(of.errors.mean),
                signed_percent(of.errors.bias), signed_percent(of.errors.worst),
                of.left_out.times > 0 ? percent(of.left_out.mean) : "", domain(of)});
  }
  return style.bold("Figures") + "\n" + figures.text(style, 2) +
         fmt::format("  memory: {} of its bandwidth\n\n",
                     share_text(fit.cluster.device.memory_share)) +
         style.bold("Errors") +
         ", modelled / measured - 1; left out: the mean of shapes that were not fitted to\n" +
         errors.text(style, 2);
}

}  // namespace orrery
