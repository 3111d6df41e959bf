#include "tests/tools/cli/chrome_trace.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include <nlohmann/json.hpp>

namespace orrery::test {

namespace {

using Json = nlohmann::json;

int64_t picoseconds(const Json& microseconds) {
  return std::llround(microseconds.get<double>() * 1e6);
}

/// `Names` maps the numbers of processes and threads in the events to their names.
class Names {
 public:
  void add(const Json& event) {
    const int64_t process = event.at("pid");
    // Viewers tell apart processes with one name by their numbers, which they show.
    if (event.at("name") == "process_name")
      processes_[process] =
          event.at("args").at("name").get<std::string>() + " " + std::to_string(process);
    if (event.at("name") == "thread_name")
      threads_[{process, event.at("tid")}] = event.at("args").at("name");
  }

  const std::string& process(const Json& event) const { return processes_.at(event.at("pid")); }
  const std::string& thread(const Json& event) const {
    return threads_.at({event.at("pid"), event.at("tid")});
  }

 private:
  std::map<int64_t, std::string> processes_;
  std::map<std::pair<int64_t, int64_t>, std::string> threads_;
};

Slice slice_of(const Json& event, const Names& names) {
  const int64_t begin = picoseconds(event.at("ts"));
  Slice slice{names.process(event),
              names.thread(event),
              event.at("tid"),
              event.at("cat"),
              event.at("name"),
              begin,
              begin + picoseconds(event.at("dur")),
              0};
  if (slice.category == "link")
    slice.bytes = event.at("args").at("bytes");
  return slice;
}

}  // namespace

ChromeTrace::ChromeTrace(const std::string& text) {
  const Json document = Json::parse(text);
  const Json& events = document.at("traceEvents");
  Names names;
  for (const Json& event : events)
    if (event.at("ph") == "M")
      names.add(event);
  for (const Json& event : events) {
    const auto& kind = event.at("ph").get_ref<const std::string&>();
    if (kind == "X") {
      slices.push_back(slice_of(event, names));
    } else if (kind == "C") {
      for (const auto& series : event.at("args").items())
        counters[{names.process(event), series.key()}].push_back(series.value());
    } else if (kind == "s" || kind == "f") {
      Flow& flow = flows[event.at("id").get<int64_t>()];
      (kind == "s" ? flow.starts : flow.ends) += 1;
      (kind == "s" ? flow.start_ps : flow.end_ps) = picoseconds(event.at("ts"));
    }
  }
  std::stable_sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) {
    return std::tie(a.row, a.begin_ps, a.end_ps) < std::tie(b.row, b.begin_ps, b.end_ps);
  });
}

}  // namespace orrery::test
