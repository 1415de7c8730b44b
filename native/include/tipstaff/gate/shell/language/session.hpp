// What a shell remembers from one command to the next: variables, functions, aliases, files it wrote, where it is.
#pragma once

#include <cstdint>
#include <new>
#include <string_view>

#include "tipstaff/gate/shell/language/bytes.hpp"
#include "tipstaff/gate/tree/raw.hpp"

namespace tipstaff::gate::shell {

// One of the texts that a variable may hold.
struct Value {
  string_view text;
  std::uint16_t flags = 0;  // of word_flag
};

// What comes out of a command, or goes into one.
struct Stream {
  enum Kind : std::uint8_t {
    none,     // nothing
    known,    // `text`
    unknown,  // not known
    remote,   // comes from the network
    file,     // the contents of the file `text`
    paths,    // names of files below each line of `text`
    trusted,  // shell code from a program whose purpose is to print it: ssh-agent, brew shellenv
  };
  Kind kind = none;
  bool decoded = false;
  std::uint16_t flags = 0;
  string_view text;
  Span span;
  bool refused = false;  // unknown, of a file that is there and cannot be read
};

// A fixed number of records, not initialised before they are added.
template <typename T, std::uint32_t N>
class Pool {
 public:
  std::uint32_t size() const noexcept { return size_; }
  T& operator[](std::uint32_t i) noexcept { return items_[i]; }
  T* begin() noexcept { return items_.data(); }
  T* add(const T& item) noexcept {
    if (size_ == N) return nullptr;
    return new (&items_[size_++]) T(item);
  }
  void cut(std::uint32_t size) noexcept { size_ = size; }

 private:
  Raw<T, N> items_;
  std::uint32_t size_ = 0;
};

struct Variable {
  string_view name;
  std::uint32_t first = 0;  // values()[first ...]
  std::uint16_t count = 0;
  std::uint16_t next = 0;  // older variable of the same bucket
  bool array = false;      // the values are an array's elements, else what it may hold
};

struct Function {
  string_view name;
  string_view body;
  Span origin;
  bool verbatim = true;
  bool running = false;
};

struct Alias {
  string_view name;
  string_view text;
  Span span;
};

// A file whose content this very text has written or made.
struct WrittenFile {
  string_view path;
  Stream content;
};

// A directory of the host that a container sees under another name.
struct Mount {
  string_view host;
  string_view inside;
};

// "$1" ...: words of the tree.
struct Positional {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  bool known = false;
  string_view zero;
};

class Session {
 public:
  static constexpr std::uint16_t kNobody = 0xffff;

  struct Mark {
    std::uint32_t variables, values, functions, aliases, base, mounts, pushed;
    string_view cwd, old_cwd;
    Positional positional;
  };

  Session() noexcept { std::memset(heads_, 0xff, sizeof heads_); }

  // What follows until leave() or join() happens in a subshell, a branch or a call.
  Mark enter() noexcept {
    const Mark mark{variables_.size(), values_.size(), functions.size(), aliases.size(), base_, mounts.size(), pushed,
                    cwd, old_cwd, positional};
    base_ = variables_.size();
    return mark;
  }
  // Forgets all that happened since.
  void leave(const Mark& mark) noexcept {
    pop(mark.variables);
    values_.cut(mark.values);
    functions.cut(mark.functions);
    aliases.cut(mark.aliases);
    mounts.cut(mark.mounts);
    base_ = mark.base;
    pushed = mark.pushed;
    cwd = mark.cwd;
    old_cwd = mark.old_cwd;
    positional = mark.positional;
  }
  // Keeps it as a possibility: each variable may hold what it held before, too.
  void join(const Mark& mark) noexcept {
    move_out(mark, true);
    if (cwd != mark.cwd) cwd = {};
  }
  // What an assignment set stays; it was made in a scope of its own only in case a command follows.
  void stay(const Mark& mark) noexcept {
    move_out(mark, false);
  }
  // Forgets the variables that were set since, and nothing else.
  void leave_variables(const Mark& mark) noexcept {
    pop(mark.variables);
    values_.cut(mark.values);
    base_ = mark.base;
  }

  const Variable* find(string_view name) noexcept {
    for (std::uint16_t i = heads_[bucket(name)]; i != kNobody; i = variables_[i].next) {
      if (variables_[i].name == name) return &variables_[i];
    }
    return nullptr;
  }
  const Value* values(const Variable& variable) noexcept { return &values_[variable.first]; }

  void set(string_view name, const Value* values, std::uint32_t count, bool array, bool merge) noexcept {
    Variable made;
    made.name = name;
    made.array = array;
    Raw<Value, kAlternatives> merged;
    Variable* old = const_cast<Variable*>(find(name));
    if (merge && old != nullptr && !old->array && old->count != 0 && count <= kAlternatives) {
      std::uint32_t n = 0;
      for (std::uint32_t i = 0; i < count; ++i) merged[n++] = values[i];
      for (std::uint32_t i = 0; i < old->count; ++i) {
        const Value& value = values_[old->first + i];
        bool there = false;
        for (std::uint32_t k = 0; k < n; ++k) there = there || merged[k].text == value.text;
        if (there) continue;
        if (n == kAlternatives) {
          merged[n - 1] = Value{kUnknown, word_flag::kUnknown};
          break;
        }
        merged[n++] = value;
      }
      values = merged.data();
      count = n;
    }
    const bool in_place = old != nullptr && static_cast<std::uint32_t>(old - variables_.begin()) >= base_;
    if (in_place && old->count >= count && count != 0) {
      for (std::uint32_t i = 0; i < count; ++i) values_[old->first + i] = values[i];
      old->count = static_cast<std::uint16_t>(count);
      old->array = array;
      return;
    }
    made.first = values_.size();
    for (std::uint32_t i = 0; i < count; ++i) {
      const Value copy = values[i];
      if (values_.add(copy) == nullptr) {
        exhausted = true;
        values_.cut(made.first);
        made.count = 0;
        break;
      }
      ++made.count;
    }
    if (in_place) {
      made.next = old->next;
      *old = made;
      return;
    }
    std::uint16_t& head = heads_[bucket(name)];
    made.next = head;
    if (variables_.add(made) == nullptr) {
      exhausted = true;
      return;
    }
    head = static_cast<std::uint16_t>(variables_.size() - 1);
  }

  // Whether a byte sets words apart where a variable is put in.
  bool separates(char c) const noexcept {
    return separators.empty() ? is_blank(c) || c == '\n' : holds(separators, c);
  }

  const WrittenFile* find_file(string_view path) noexcept {
    for (std::uint32_t i = files.size(); i-- > 0;) {
      if (files[i].path == path) return &files[i];
    }
    return nullptr;
  }

  // The newest file or folder that is above `path` and stands for another one.
  const WrittenFile* find_folder(string_view path) noexcept {
    for (std::uint32_t i = files.size(); i-- > 0;) {
      const string_view folder = files[i].path;
      if (files[i].content.kind != Stream::file || path.size() <= folder.size() + 1) continue;
      if (path[folder.size()] == '/' && starts_with(path, folder)) return &files[i];
    }
    return nullptr;
  }

  // Of very many files the oldest are forgotten: then a file that is not there may be one of them.
  void add_file(const WrittenFile& file) noexcept {
    if (files.add(file) == nullptr) files[next_file_++ % files.size()] = file;
  }
  bool forgot_files() const noexcept { return next_file_ != 0; }

  // pushd and popd. Of very many folders none is known.
  void push_folder(string_view folder) noexcept {
    if (pushed < kFolders) folders_[pushed] = folder;
    ++pushed;
  }
  string_view pop_folder() noexcept {
    if (pushed == 0) return old_cwd;
    return --pushed < kFolders ? folders_[pushed] : string_view();
  }

  static constexpr std::uint32_t kAlternatives = 16;

  Pool<Value, 512> scratch;  // of words that are being read; a stack
  Pool<Function, 48> functions;
  Pool<Alias, 24> aliases;
  Pool<WrittenFile, 96> files;
  Pool<Mount, 16> mounts;
  static constexpr std::uint32_t kStarted = 4;
  string_view started_ports[kStarted];  // of this machine, of containers without volumes that the text started
  std::uint32_t started_count = 0;
  Positional positional;
  string_view cwd, old_cwd;
  std::uint32_t made_files = 0;  // names given out for process substitutions
  std::uint32_t pushed = 0;      // folders that popd goes back to
  std::uint32_t level = 0;       // how deep in groups, substitutions and nested code
  bool names_environment = false;  // a variable like RAILS_ENV was set
  string_view unexported;        // a variable like RAILS_ENV that was set for this shell alone
  bool exports = false;          // export, set -a: what is set reaches programs
  string_view separators;        // what IFS was set to; empty for blanks
  bool exhausted = false;        // some table was full: what it did not take is unknown

 private:
  static std::uint32_t bucket(string_view name) noexcept {
    if (name.empty()) return 0;
    const auto first = static_cast<unsigned char>(name.front()), last = static_cast<unsigned char>(name.back());
    return (first * 7u + last * 31u + static_cast<std::uint32_t>(name.size())) % 32u;
  }
  // Sets the variables of the innermost scope in the one around it, and takes back the room their values took.
  void move_out(const Mark& mark, bool merge) noexcept {
    const std::uint32_t end = variables_.size(), beside = scratch.size();
    Variable* all = variables_.begin();
    pop(mark.variables);
    base_ = mark.base;
    const std::uint32_t moved = values_.size() - mark.values;
    std::uint32_t kept = 0;
    while (kept < moved && scratch.add(values_[mark.values + kept]) != nullptr) ++kept;
    const Value* from = values_.begin() + mark.values;
    if (kept == moved) {
      from = scratch.begin() + beside;
      values_.cut(mark.values);
    }
    for (std::uint32_t i = mark.variables; i < end; ++i) {
      const Variable changed = all[i];
      set(changed.name, from + (changed.first - mark.values), changed.count, changed.array, merge && !changed.array);
    }
    scratch.cut(beside);
  }
  void pop(std::uint32_t size) noexcept {
    while (variables_.size() > size) {
      const Variable& last = variables_[variables_.size() - 1];
      heads_[bucket(last.name)] = last.next;
      variables_.cut(variables_.size() - 1);
    }
  }

  Pool<Variable, 192> variables_;
  Pool<Value, 768> values_;
  std::uint16_t heads_[32];
  static constexpr std::uint32_t kFolders = 12;
  string_view folders_[kFolders];
  std::uint32_t base_ = 0;
  std::uint32_t next_file_ = 0;
};

}  // namespace tipstaff::gate::shell
