// Copies documents with other values in the place of some.

#include <string>
#include <utility>

#include "models/scenario/document.h"

namespace orrery {

Document::Document(const Document& original,
                   FunctionRef<bool(DocumentNode, DocumentWriter&)> replaces,
                   Diagnostics& diagnostics, const Limits& limits)
    : text_(original.text_),
      lines_(original.lines_),
      strings_(original.strings_),
      complete_(original.complete_) {
  records_.reserve(original.records_.size());
  if (complete_)
    DocumentWriter(*this, diagnostics, limits).copy(original, 0, replaces);
}

void DocumentWriter::copy(const Document& from, uint32_t index,
                          FunctionRef<bool(DocumentNode, DocumentWriter&)> replaces) {
  const Document::Record& record = from.records_[index];
  at_ = record;
  if (replaces(DocumentNode(from, index), *this))
    return;
  at_ = record;
  open_.push_back(add(record));
  for (uint32_t child = record.first; child != 0; child = from.records_[child].next)
    copy(from, child, replaces);
  open_.pop_back();
}

void DocumentWriter::copy(DocumentNode value) {
  const Document::Record place = at_;
  Document::Record record = value.document_->records_[value.index_];
  const uint32_t first = record.first;
  record.begin = place.begin;
  if (record.kind == DocumentNode::Kind::Number) {
    record.string = keep(std::string(value.number()));
    record.written = true;
  }
  record.key = place.key;
  record.key_begin = place.key_begin;
  open_.push_back(add(record));
  for (uint32_t child = first; child != 0; child = value.document_->records_[child].next) {
    at_ = value.document_->records_[child];
    at_.begin = at_.key_begin = place.begin;
    copy(DocumentNode(*value.document_, child));
  }
  open_.pop_back();
  at_ = place;
}

/// Adds a value to the object or list that is open. Its key is that of the record.
uint32_t DocumentWriter::add(Document::Record record) {
  std::vector<Document::Record>& records = to_.records_;
  const auto index = static_cast<uint32_t>(records.size());
  if (records.size() >= static_cast<size_t>(limits_.values)) {
    diagnostics_.add({"", to_.lines_->at(at_.begin)}, beyond(limits_, &Limits::values, "more"));
    diagnostics_.throw_if_any();
  }
  const bool holds_others =
      record.kind == DocumentNode::Kind::List || record.kind == DocumentNode::Kind::Object;
  if (holds_others && open_.size() >= static_cast<size_t>(limits_.nesting)) {
    diagnostics_.add({to_.pointer(open_.back()), to_.lines_->at(at_.begin)},
                     beyond(limits_, &Limits::nesting, "more"));
    diagnostics_.throw_if_any();
  }
  record.first = record.next = record.last = record.size = record.parent = record.index = 0;
  if (!open_.empty()) {
    Document::Record& parent = records[open_.back()];
    record.parent = open_.back();
    record.index = parent.size++;
    if (parent.first == 0)
      parent.first = index;
    else
      records[parent.last].next = index;
    parent.last = index;
  }
  records.push_back(record);
  return index;
}

uint32_t DocumentWriter::keep(std::string text) {
  to_.strings_.push_back(std::move(text));
  return static_cast<uint32_t>(to_.strings_.size() - 1);
}

void DocumentWriter::number(int64_t value) {
  Document::Record record = at_;
  record.kind = DocumentNode::Kind::Number;
  record.string = keep(std::to_string(value));
  record.written = true;
  add(record);
}

void DocumentWriter::boolean(bool value) {
  Document::Record record = at_;
  record.kind = DocumentNode::Kind::Boolean;
  record.boolean = value;
  add(record);
}

void DocumentWriter::text(std::string value) {
  Document::Record record = at_;
  record.kind = DocumentNode::Kind::Text;
  record.string = keep(std::move(value));
  add(record);
}

void DocumentWriter::open_list() {
  Document::Record record = at_;
  record.kind = DocumentNode::Kind::List;
  open_.push_back(add(record));
}

void DocumentWriter::close_list() {
  open_.pop_back();
}

}  // namespace orrery
