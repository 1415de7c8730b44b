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

// Whether programs that are started see a variable.
enum class Exported : std::uint8_t { no, perhaps, yes };

struct Variable {
  string_view name;
  std::uint32_t first = 0;  // values()[first ...]
  std::uint16_t count = 0;
  std::uint16_t next = 0;  // older variable of the same bucket
  bool array = false;      // the values are an array's elements, else what it may hold
  Exported exported = Exported::no;
  std::uint8_t branches = 0;  // of a conditional, that set it
  bool hidden = false;        // it is what a branch left: not seen until all of them were read
  bool locked = false;        // readonly: what is assigned may not be taken
};

struct Function {
  string_view name;
  string_view body;
  Span origin;
  bool verbatim = true;
  bool perhaps = false;  // its definition may not have run
  bool running = false;
  bool exported = false;
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

// Where a shell is: in `cwd` if all that moved it succeeded, else in one of `others`. Empty: not known.
struct Folders {
  static constexpr std::uint32_t kMost = 3;
  string_view cwd, old_cwd;
  string_view others[kMost];
  std::uint32_t count = 0;

  void add(string_view folder) noexcept {
    if (folder == cwd) return;
    for (std::uint32_t i = 0; i < count; ++i)
      if (others[i] == folder) return;
    if (count == kMost || folder.empty() || cwd.empty()) {  // any folder
      cwd = {};
      count = 0;
    } else {
      others[count++] = folder;
    }
  }
  void add(const Folders& more) noexcept {
    if (cwd.empty()) return;
    add(more.cwd);
    for (std::uint32_t i = 0; i < more.count; ++i) add(more.others[i]);
    if (old_cwd != more.old_cwd && !more.old_cwd.empty()) old_cwd = {};
  }
};

class Session : public Folders {
 public:
  static constexpr std::uint16_t kNobody = 0xffff;

  struct Mark {
    std::uint32_t variables, values, functions, aliases, base, mounts, pushed;
    Folders folders;
    Positional positional;
    string_view separators;
    bool all_exported, ends_on_failure;
    std::uint32_t own_functions, own_aliases;
  };

  Session() noexcept { std::memset(heads_, 0xff, sizeof heads_); }

  // What follows until leave(), join() or stay() happens in a subshell, a branch or a call.
  Mark enter() noexcept {
    const Mark mark{variables_.size(), values_.size(), functions.size(), aliases.size(), base_, mounts.size(), pushed,
                    *this, positional, separators, all_exported, ends_on_failure, own_functions, own_aliases};
    base_ = variables_.size();
    return mark;
  }
  // Forgets all that happened since.
  void leave(const Mark& mark) noexcept {
    leave_variables(mark);
    functions.cut(mark.functions);
    aliases.cut(mark.aliases);
    mounts.cut(mark.mounts);
    pushed = mark.pushed;
    folders() = mark.folders;
    positional = mark.positional;
    separators = mark.separators;
    all_exported = mark.all_exported;
    ends_on_failure = mark.ends_on_failure;
    own_functions = mark.own_functions;
    own_aliases = mark.own_aliases;
  }
  // Keeps it as a possibility: each variable may hold what it held before, too.
  void join(const Mark& mark) noexcept {
    move_out(mark, Moved::joined);
    folders().add(mark.folders);
    separators = mark.separators;
  }
  // Keeps it: it happened for certain.
  void stay(const Mark& mark) noexcept {
    move_out(mark, Moved::replaced);
  }
  // Keeps it as one of several branches, unseen, in the scope `around` them.
  void end_branch(const Mark& mark, const Mark& around) noexcept {
    around_ = around.variables;
    move_out(mark, Moved::branch);
    separators = mark.separators;
  }
  // Ends that scope. One of its branches happened, or none where they are not exhaustive.
  void join_branches(const Mark& mark, std::uint32_t branches) noexcept {
    branches_ = branches;
    move_out(mark, Moved::branches);
  }
  // Ends what an assignment before a command set: `prefix` variables, which are as before, or perhaps as they are now.
  void leave_prefix(const Mark& mark, std::uint32_t prefix, bool perhaps) noexcept {
    prefix_ = mark.variables + prefix;
    move_out(mark, perhaps ? Moved::prefix_perhaps : Moved::prefix);
  }
  // Forgets the variables that were set since, and nothing else.
  void leave_variables(const Mark& mark) noexcept {
    pop(mark.variables);
    values_.cut(mark.values);
    base_ = mark.base;
  }
  Folders& folders() noexcept { return *this; }
  std::uint32_t variable_count() const noexcept { return variables_.size(); }
  bool has_changed(const Mark& mark) const noexcept {
    return variables_.size() != mark.variables || cwd != mark.folders.cwd || count != mark.folders.count;
  }

  // The variables of the innermost scope, put aside as texts of `scratch`: name and values. Returns how many texts.
  std::uint32_t put_aside(const Mark& mark) noexcept {
    const std::uint32_t first = scratch.size();
    for (std::uint32_t i = mark.variables; i < variables_.size(); ++i) {
      const Variable& held = variables_[i];
      const std::uint16_t shape = static_cast<std::uint16_t>(held.count << 1 | (held.array ? 1 : 0));
      if (scratch.add(Value{held.name, shape}) == nullptr) break;
      for (std::uint32_t k = 0; k < held.count; ++k)
        if (scratch.add(values_[held.first + k]) == nullptr) exhausted = true;
    }
    leave_variables(mark);
    return first;
  }
  void bring_back(std::uint32_t first, bool exported) noexcept {
    for (std::uint32_t i = first; i < scratch.size();) {
      const Value head = scratch[i];
      const std::uint32_t held = head.flags >> 1;
      if (i + 1 + held > scratch.size()) return;
      set(head.text, scratch.begin() + i + 1, held, (head.flags & 1) != 0, false);
      if (exported) mark_exported(head.text, Exported::yes);
      i += 1 + held;
    }
  }

  // In a program that is started: what is not exported is not there, nor are functions and aliases.
  void enter_program() noexcept {
    const std::uint32_t end = variables_.size();
    for (std::uint32_t i = 0; i < end; ++i) {
      const Variable held = variables_[i];
      if (held.exported == Exported::yes || find(held.name) != &variables_[i]) continue;
      const Value nothing{};
      set(held.name, &nothing, 1, false, held.exported == Exported::perhaps);
    }
    own_functions = functions.size();
    own_aliases = aliases.size();
  }

  // A variable of a function is what it was when the function ends: until then that is kept under a name of its own.
  template <typename Join>
  void make_local(string_view name, std::uint32_t depth, bool perhaps, Join&& join_names) noexcept {
    const char prefix[] = {kLocal, static_cast<char>('a' + (depth < 25 ? depth : 25))};
    char look[64];
    if (name.size() + 2 > sizeof look) return;
    std::memcpy(look, prefix, 2);
    std::memcpy(look + 2, name.data(), name.size());
    if (find(string_view(look, name.size() + 2)) != nullptr) return;
    const Variable* const old = find(name);
    Raw<Value, kAlternatives> kept;
    std::uint32_t n = 0;
    bool array = false;
    Exported exported = Exported::no;
    if (old != nullptr) {
      array = old->array;
      exported = old->exported;
      for (; n < old->count && n < kAlternatives; ++n) kept[n] = values_[old->first + n];
    }
    if (perhaps && n < kAlternatives) kept[n++] = Value{{}, kInnerValue};
    const string_view key = join_names(string_view(prefix, 2), name);
    set(key, kept.data(), n, array, false);
    if (Variable* const made = const_cast<Variable*>(find(key)); made != nullptr) {
      made->exported = exported;
      made->branches = old == nullptr ? 1 : 0;
    }
  }
  void end_locals(std::uint32_t depth) noexcept {
    const char letter = static_cast<char>('a' + (depth < 25 ? depth : 25));
    for (std::uint32_t i = variables_.size(); i-- > 0;) {
      const Variable held = variables_[i];
      if (held.name.size() < 3 || held.name[0] != kLocal || held.name[1] != letter || find(held.name) != &variables_[i]) continue;
      Raw<Value, kAlternatives> kept;
      std::uint32_t n = 0;
      bool perhaps = false;
      for (std::uint32_t k = 0; k < held.count; ++k) {
        const Value value = values_[held.first + k];
        if ((value.flags & kInnerValue) != 0 && value.text.empty()) perhaps = true;
        else kept[n++] = value;
      }
      const string_view name = held.name.substr(2);
      unlink(i);
      if (held.branches != 0) {  // it was not set
        const Variable* const inner = find(name);
        if (inner == nullptr) continue;
        if (!perhaps && static_cast<std::uint32_t>(inner - variables_.begin()) >= base_) {
          unlink(static_cast<std::uint32_t>(inner - variables_.begin()));
          continue;
        }
        kept[n++] = name == "HOME" && !home.empty() ? Value{home, 0} : Value{kUnknown, unset_flags};
      }
      set(name, kept.data(), n, held.array, perhaps);
      if (Variable* const back = const_cast<Variable*>(find(name)); back != nullptr) back->exported = held.exported;
    }
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
    made.exported = all_exported ? Exported::yes : Exported::no;
    Raw<Value, kAlternatives + 1> merged;
    Variable* old = const_cast<Variable*>(find(name));
    if (old != nullptr && old->locked) merge = made.locked = true;
    merge = merge || unsure;
    if (old != nullptr && old->exported != Exported::no && !all_exported) made.exported = old->exported;
    if (merge && old == nullptr && !array && count < kAlternatives) {  // or it is not set at all
      for (std::uint32_t i = 0; i < count; ++i) merged[i] = values[i];
      merged[count] = name == "HOME" && !home.empty() ? Value{home, 0} : Value{kUnknown, unset_flags};
      values = merged.data();
      ++count;
    }
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
      old->exported = made.exported;
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
      made.branches = old->branches;
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

  void lock(string_view name) noexcept {
    if (Variable* const held = const_cast<Variable*>(find(name)); held != nullptr) held->locked = true;
  }
  void mark_exported(string_view name, Exported exported) noexcept {
    if (Variable* const held = const_cast<Variable*>(find(name)); held != nullptr) held->exported = exported;
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
  static constexpr char kLocal = '\x02';  // begins the name under which a function keeps what its variable was
  static constexpr std::uint16_t kInnerValue = 0x8000;
  static constexpr std::uint16_t unset_flags = word_flag::kUnknown | word_flag::kMayBeEmpty | word_flag::kEnvironment;

  Pool<Value, 512> scratch;  // of words that are being read; a stack
  Pool<Function, 48> functions;
  Pool<Alias, 24> aliases;
  Pool<WrittenFile, 96> files;
  Pool<Mount, 16> mounts;
  static constexpr std::uint32_t kStarted = 4;
  static constexpr std::uint32_t kMadeFolders = 8;
  string_view made_folders[kMadeFolders];  // by mkdir
  std::uint32_t made_count = 0;
  string_view started_ports[kStarted];  // of this machine, of containers without volumes that the text started
  std::uint32_t started_count = 0;
  Positional positional;
  Word secret_file;               // that was read last
  string_view home;               // what HOME is until something sets it
  std::uint32_t made_files = 0;  // names given out for process substitutions
  std::uint32_t pushed = 0;      // folders that popd goes back to
  std::uint32_t level = 0;       // how deep in groups, substitutions and nested code
  bool names_environment = false;  // a variable like RAILS_ENV was set
  string_view unexported;        // a variable like RAILS_ENV that was set for this shell alone
  bool exports = false;          // export was used
  bool all_exported = false;     // set -a: what is set reaches programs
  std::uint32_t own_functions = 0, own_aliases = 0;  // the first that this program has itself
  std::uint32_t calls = 0;       // of functions, one within the other
  string_view separators;        // what IFS was set to; empty for blanks
  bool unsure = false;            // an error may have ended the command: what is set may not be
  bool ends_on_failure = false;   // set -e
  bool exhausted = false;        // some table was full: what it did not take is unknown

 private:
  static std::uint32_t bucket(string_view name) noexcept {
    if (name.empty()) return 0;
    const auto first = static_cast<unsigned char>(name.front()), last = static_cast<unsigned char>(name.back());
    return (first * 7u + last * 31u + static_cast<std::uint32_t>(name.size())) % 32u;
  }
  enum class Moved : std::uint8_t { replaced, joined, branch, branches, prefix, prefix_perhaps };
  // Sets the variables of the innermost scope in the one around it, and takes back the room their values took.
  void move_out(const Mark& mark, Moved moved) noexcept {
    const std::uint32_t end = variables_.size(), beside = scratch.size();
    base_ = mark.base;
    if (end == mark.variables) return;
    Variable* all = variables_.begin();
    pop(mark.variables);
    const std::uint32_t held = values_.size() - mark.values;
    std::uint32_t kept = 0;
    while (kept < held && scratch.add(values_[mark.values + kept]) != nullptr) ++kept;
    const Value* from = values_.begin() + mark.values;
    if (kept == held) {
      from = scratch.begin() + beside;
      values_.cut(mark.values);
    }
    for (std::uint32_t i = mark.variables; i < end; ++i) {
      const Variable changed = all[i];
      if (changed.name.empty()) continue;
      const bool prefixed = i < prefix_;
      if (moved == Moved::prefix && prefixed) continue;
      if (moved == Moved::branch && changed.name[0] != kLocal) {
        add_hidden(changed, from + (changed.first - mark.values));
        continue;
      }
      const Variable* const old = find(changed.name);
      const Exported before = old != nullptr ? old->exported : Exported::no;
      const bool local = changed.name[0] == kLocal;
      const bool merge = !local && (moved == Moved::joined || (moved == Moved::branches && changed.branches != branches_) ||
                                    (moved == Moved::prefix_perhaps && prefixed));
      set(changed.name, from + (changed.first - mark.values), changed.count, changed.array, merge && !changed.array);
      Variable* const now = const_cast<Variable*>(find(changed.name));
      if (now == nullptr) continue;
      now->exported = merge && before != changed.exported ? Exported::perhaps : changed.exported;
      now->locked = now->locked || changed.locked;
      now->branches = local ? changed.branches : 0;
    }
    scratch.cut(beside);
  }
  // What a branch left of a variable, beside what others left of it.
  void add_hidden(const Variable& changed, const Value* values) noexcept {
    Variable* there = nullptr;
    for (std::uint32_t i = around_; i < variables_.size() && there == nullptr; ++i)
      if (variables_[i].hidden && variables_[i].name == changed.name) there = &variables_[i];
    Raw<Value, kAlternatives> all;
    std::uint32_t n = 0;
    if (there != nullptr && !changed.array && !there->array) {
      for (; n < there->count && n < kAlternatives; ++n) all[n] = values_[there->first + n];
    }
    for (std::uint32_t i = 0; i < changed.count; ++i) {
      bool known = false;
      for (std::uint32_t k = 0; k < n && !changed.array; ++k) known = known || (all[k].text == values[i].text && all[k].flags == values[i].flags);
      if (known) continue;
      if (n < kAlternatives) all[n++] = values[i];
      else all[n - 1] = Value{kUnknown, word_flag::kUnknown};
    }
    Variable made = changed;
    made.hidden = true;
    made.branches = static_cast<std::uint8_t>((there != nullptr ? there->branches : 0) + 1);
    made.first = values_.size();
    made.count = static_cast<std::uint16_t>(n);
    for (std::uint32_t i = 0; i < n; ++i) {
      if (values_.add(all[i]) == nullptr) exhausted = true;
    }
    if (exhausted) {
      values_.cut(made.first);
      made.count = 0;
    }
    if (there != nullptr) *there = made;
    else if (variables_.add(made) == nullptr) exhausted = true;
  }
  // Takes a variable out of those that are found; its place stays until its scope ends.
  void unlink(std::uint32_t index) noexcept {
    std::uint16_t* link = &heads_[bucket(variables_[index].name)];
    while (*link != kNobody && *link != index) link = &variables_[*link].next;
    if (*link == index) *link = variables_[index].next;
    variables_[index].name = {};
  }
  void pop(std::uint32_t size) noexcept {
    while (variables_.size() > size) {
      const Variable& last = variables_[variables_.size() - 1];
      if (!last.name.empty() && !last.hidden) heads_[bucket(last.name)] = last.next;
      variables_.cut(variables_.size() - 1);
    }
  }

  Pool<Variable, 192> variables_;
  Pool<Value, 768> values_;
  std::uint16_t heads_[32];
  static constexpr std::uint32_t kFolders = 12;
  string_view folders_[kFolders];
  std::uint32_t base_ = 0;
  std::uint32_t branches_ = 0, prefix_ = 0, around_ = 0;
  std::uint32_t next_file_ = 0;
};

}  // namespace tipstaff::gate::shell
