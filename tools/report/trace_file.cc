#include "tools/report/trace_file.h"

#include "tools/report/json_writer.h"

namespace orrery {

namespace {

std::string microseconds_of(int64_t picoseconds) {
  return fmt::format("{}.{:06}", picoseconds / 1'000'000, picoseconds % 1'000'000);
}

}  // namespace

std::string microseconds(Instant instant) {
  return microseconds_of(instant.picoseconds());
}

std::string complete(Row row, const char* category, const std::string& name, Stretch stretch) {
  return fmt::format(R"("ph":"X","cat":"{}","name":{},"pid":{},"tid":{},"ts":{},"dur":{})",
                     category, name, row.process, row.thread, microseconds(stretch.begin),
                     microseconds_of((stretch.end - stretch.begin).count()));
}

TraceFile::TraceFile(std::ostream& out) : out_(out) {
  text_ = R"({"displayTimeUnit":"ns","traceEvents":[)";
}

void TraceFile::name_process(uint32_t process, const std::string& name, uint32_t sort_index) {
  event(R"("ph":"M","name":"process_name","pid":{},"args":{{"name":{}}})", process,
        json_quoted(name));
  event(R"("ph":"M","name":"process_sort_index","pid":{},"args":{{"sort_index":{}}})", process,
        sort_index);
}

void TraceFile::name_thread(Row row, const std::string& name, uint32_t sort_index) {
  event(R"("ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":{}}})", row.process,
        row.thread, json_quoted(name));
  event(R"("ph":"M","name":"thread_sort_index","pid":{},"tid":{},"args":{{"sort_index":{}}})",
        row.process, row.thread, sort_index);
}

void TraceFile::end(const std::string& other_data) {
  text_ += fmt::format("\n],\"otherData\":{{{}}}}}\n", other_data);
  pass_on();
}

void TraceFile::pass_on() {
  out_ << text_;
  text_.clear();
}

}  // namespace orrery
