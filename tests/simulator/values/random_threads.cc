#include "tests/simulator/values/random_threads.h"

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/base/random.h"
#include "tests/models/array/random_tensors.h"

namespace orrery::test {

namespace {

using Given = std::vector<std::pair<std::string, Attribute>>;

constexpr uint32_t kDevices = 6;
const std::vector<Dtype> kDtypes = {Dtype::S32, Dtype::F32};
// Every value has this shape. It can be divided by the ranks of any group.
const Shape kShape{6, 2};

/// `Axes` are the devices that exchange: `size` ranks along the axes.
struct Axes {
  Names names;
  int64_t size;
};

/// A `Line` is an op of one thread, before it is written.
struct Line {
  std::string op;
  std::string name;
  Names operands;
  Given given;
  std::string site;
};

/// A `Thread` holds a thread's ops, one after another.
class Thread {
 public:
  explicit Thread(std::string prefix) : prefix_(std::move(prefix)) {
    for (size_t d = 0; d < kDtypes.size(); ++d)
      values_.push_back({fmt::format("a{}", d)});
  }

  /// Returns a value of the dtype: half of the time the newest, else any.
  std::string value(size_t dtype, Random& random) const {
    const Names& all = values_[dtype];
    return random.below(2) == 0 ? all.back() : all[random.below(all.size())];
  }

  void local(Random& random) {
    const size_t dtype = random.below(kDtypes.size());
    const Names operands = {value(dtype, random), value(dtype, random)};
    static const Names kUnary = {"neg", "transpose"};
    static const Names kBinary = {"add", "sub", "mul", "max"};
    switch (random.below(4)) {
      case 0:
        return add(dtype, {"neg", next(), {operands[0]}, {}, {}});
      case 1: {
        // The rows come in another order, through a shape that other values do not have.
        const std::string turned = next();
        lines_.push_back(
            {"transpose", turned, {operands[0]}, {{"permutation", Integers{1, 0}}}, {}});
        return add(dtype, {"reshape", next(), {turned}, {{"new_sizes", Integers{6, 2}}}, {}});
      }
      default:
        return add(dtype, {kBinary[random.below(kBinary.size())], next(), operands, {}, {}});
    }
  }

  /// Adds an op with a result of the same type. If it is started, done() adds its done later.
  void collective(const std::string& op, size_t dtype, const Given& given, const std::string& site,
                  bool started, Random& random) {
    const std::string of = value(dtype, random);
    if (!started)
      return add(dtype, {op, next(), {of}, given, site});
    const std::string future = next();
    lines_.push_back({op + "_start", future, {of}, given, site});
    pending_.emplace_back(dtype, future);
  }

  void send(size_t dtype, const Given& given, const std::string& site, Random& random) {
    lines_.push_back({"psend", next(), {value(dtype, random)}, given, site});
  }
  void receive(size_t dtype, const Given& given, const std::string& site) {
    add(dtype, {"precv", next(), {}, given, site});
  }
  void send_to_itself(size_t dtype, const Given& sent, const Given& received, Random& random) {
    const std::string token = next();
    lines_.push_back({"psend", token, {value(dtype, random)}, sent, {}});
    add(dtype, {"precv", next(), {token}, received, {}});
  }

  /// Adds the done of one of the started ops, if there is any.
  void done(Random& random) {
    if (pending_.empty())
      return;
    const size_t which = random.below(pending_.size());
    const auto [dtype, future] = pending_[which];
    pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(which));
    add(dtype, {"done", next(), {future}, {}, {}});
  }
  void finish(Random& random) {
    while (!pending_.empty())
      done(random);
  }

  const std::vector<Line>& lines() const { return lines_; }

 private:
  std::string next() { return fmt::format("{}{}", prefix_, made_++); }
  void add(size_t dtype, Line line) {
    values_[dtype].push_back(line.name);
    lines_.push_back(std::move(line));
  }

  std::string prefix_;
  std::vector<Names> values_;                            // per dtype
  std::vector<std::pair<size_t, std::string>> pending_;  // futures, with the dtype of their results
  std::vector<Line> lines_;
  int made_ = 0;
};

class Writer {
 public:
  explicit Writer(uint64_t seed) : random_(seed) {
    if (random_.below(2) == 0) {
      threads_ = {Thread("v")};
      devices_ = {
          {LogicalId(0), LogicalId(1), LogicalId(2), LogicalId(3), LogicalId(4), LogicalId(5)}};
    } else {
      threads_ = {Thread("l"), Thread("r")};
      devices_ = {{LogicalId(0), LogicalId(1), LogicalId(2)},
                  {LogicalId(3), LogicalId(4), LogicalId(5)}};
    }
  }

  std::unique_ptr<HostRig> write() {
    for (int64_t rounds = random_.between(3, 8); rounds > 0; --rounds) {
      for (Thread& thread : threads_) {
        if (random_.below(2) == 0)
          thread.local(random_);
        if (random_.below(3) == 0)
          thread.done(random_);
      }
      if (random_.below(4) == 0)
        add_transfer();
      else
        add_collective();
    }
    for (Thread& thread : threads_)
      thread.finish(random_);
    auto rig = std::make_unique<HostRig>(std::vector<Axis>{{"x", 2}, {"y", 3}});
    for (size_t d = 0; d < kDtypes.size(); ++d) {
      std::vector<Tensor> tensors;
      for (uint32_t device = 0; device < kDevices; ++device)
        tensors.push_back(random_normalish(kDtypes[d], kShape, random_));
      rig->argument(fmt::format("a{}", d), std::move(tensors));
    }
    for (size_t t = 0; t < threads_.size(); ++t) {
      rig->thread(fmt::format("thread {}", t), devices_[t]);
      for (const Line& line : threads_[t].lines())
        rig->op(line.op, line.name, line.operands, line.given, line.site);
    }
    return rig;
  }

 private:
  std::string site() { return threads_.size() == 1 ? "" : fmt::format("s{}", sites_++); }

  /// Returns random attributes that say how messages are passed.
  Given transport() {
    Given given = {{"stream", random_.between(0, 1)}};
    if (random_.below(3) == 0)
      given.emplace_back("slots", random_.between(1, 3));
    if (random_.below(3) == 0)
      given.emplace_back("entry", std::string("rendezvous"));
    return given;
  }

  /// Adds a random collective. Over y alone, each thread has a collective of its own, in two of
  /// three cases.
  void add_collective() {
    static const std::vector<Axes> kAxes = {{{"y"}, 3}, {{"x"}, 2}, {{"x", "y"}, 6}};
    const Axes axes = kAxes[random_.below(kAxes.size())];
    const size_t dtype = random_.below(kDtypes.size());
    Given given = transport();
    given.emplace_back("axis_name", axes.names);
    std::string op = "psum";
    switch (random_.below(6)) {
      case 0:
        op = "pmax";
        break;
      case 1: {
        op = "ppermute";
        Lists perm;
        const int64_t by = random_.between(1, axes.size - 1);
        for (int64_t from = 0; from < axes.size; ++from)
          if (random_.below(4) > 0)
            perm.push_back({from, (from + by) % axes.size});
        given.emplace_back("perm", perm);
        break;
      }
      case 2:
        op = "all_to_all";
        given.insert(given.end(),
                     {{"split_axis", int64_t{0}}, {"concat_axis", int64_t{0}}, {"tiled", true}});
        break;
      case 3:
        op = "pbroadcast";
        given.emplace_back("source", random_.between(0, axes.size - 1));
        break;
      default:
        break;
    }
    const bool together = axes.names != Names{"y"};
    const std::string where = together ? site() : "";
    for (Thread& thread : threads_) {
      if (!together && random_.below(3) == 0)
        continue;
      thread.collective(op, dtype, given, where, random_.below(2) == 0, random_);
    }
  }

  /// Adds a transfer from one of two threads to the other or, with one thread, from x = 0 to x = 1.
  void add_transfer() {
    const size_t dtype = random_.below(kDtypes.size());
    const bool up = threads_.size() == 1 || random_.below(2) == 0;
    const Given along = {{"axis_name", Names{"x"}}, {"perm", up ? Lists{{0, 1}} : Lists{{1, 0}}}};
    Given sent = along;
    if (random_.below(3) == 0)
      sent.emplace_back("entry", std::string("rendezvous"));
    Given received = along;
    received.insert(received.end(),
                    {{"shape", Integers(kShape.dims().begin(), kShape.dims().end())},
                     {"dtype", kDtypes[dtype]}});
    if (threads_.size() == 1)
      return threads_[0].send_to_itself(dtype, sent, received, random_);
    const std::string where = site();
    threads_[up ? 0 : 1].send(dtype, sent, where, random_);
    threads_[up ? 1 : 0].receive(dtype, received, where);
  }

  Random random_;
  std::vector<Thread> threads_;
  std::vector<std::vector<LogicalId>> devices_;  // per thread
  int sites_ = 0;
};

}  // namespace

std::unique_ptr<HostRig> random_threads(uint64_t seed) {
  return Writer(seed).write();
}

}  // namespace orrery::test
