// What a shell's text leaves for later commands: files it wrote, mounts; and what the evaluator knows where a command runs.
#pragma once

#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>

#include "tipstaff/gate/shell/language/bytes.hpp"
#include "tipstaff/eval/evaluator.hpp"
#include "tipstaff/gate/tree/raw.hpp"

namespace tipstaff::gate::shell {

constexpr std::uint16_t kPublicFlags = 0x3fff;

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

// What the state of the evaluator tells of a variable.
struct Variable {
  string_view name;
  std::uint32_t first = 0;  // values()[first ...]
  std::uint16_t count = 0;
  bool array = false;      // the values are an array's elements, else what it may hold
  Exported exported = Exported::no;
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

// What a text leaves beside the evaluator's states, and a door to the state that a command is read in.
class Session {
 public:
  struct Mark {
    eval::State state;
    std::uint32_t mounts;
  };

  // What follows until leave() happens in a program of its own.
  Mark enter() noexcept { return {*now, mounts.size()}; }
  void leave(const Mark& mark) noexcept {
    *now = mark.state;
    mounts.cut(mark.mounts);
  }

  static std::uint64_t key(eval::TextId name) noexcept { return eval::key_of(eval::Key::variable, name); }
  // Null where nothing sets it.
  const Variable* find(string_view name) noexcept {
    eval::Store& store = run->store();
    const eval::TextId id = store.intern(name);
    const eval::Set set = store.get(*now, key(id));
    if (set.first == store.unset_or_other.first) return nullptr;
    Variable& found = found_[next_++ % kFound];
    found = Variable{};
    found.name = name;
    found.first = static_cast<std::uint32_t>(&found - found_) * kAlternatives;
    Value* const values = values_ + found.first;
    const auto exported = store.get(*now, eval::key_of(eval::Key::exported, id));
    bool may = false, may_not = false;
    for (std::uint32_t i = 0; i < exported.count; ++i) (store.values(exported)[i].text == eval::kEmpty ? may : may_not) = true;
    found.exported = may ? may_not ? Exported::perhaps : Exported::yes : Exported::no;
    for (std::uint32_t i = 0; i < set.count && found.count < kAlternatives; ++i) {
      const eval::Value value = store.values(set)[i];
      if (value.kind == 0 && (value.origin & eval::provenance::kEnvironment) != 0 && value.text <= eval::kOther) {
        if (value.text == eval::kUnset) continue;
        values[found.count++] = Value{kUnknown, unset_flags};
        continue;
      }
      if ((value.origin & eval::provenance::kList) != 0 && value.text != eval::kOther) {
        found.array = true;
        found.count = 0;
        for (string_view rest = store.text(value.text); !rest.empty() && found.count < kAlternatives;) {
          const std::size_t end = rest.find(eval::kBetween);
          values[found.count++] = Value{rest.substr(0, end), static_cast<std::uint16_t>(value.origin & kPublicFlags)};
          rest.remove_prefix(end == string_view::npos ? rest.size() : end + 1);
        }
        break;
      }
      const string_view text = value.text == eval::kUnset ? string_view() : store.text(value.text);
      std::uint16_t flags = value.origin & kPublicFlags;
      if (holds(text, kUnknownPart)) flags |= word_flag::kUnknown;
      values[found.count++] = Value{text, flags};
    }
    return &found;
  }
  const Value* values(const Variable& variable) const noexcept { return values_ + variable.first; }

  void set(string_view name, const Value* values, std::uint32_t count, bool array, bool merge) noexcept {
    eval::Store& store = run->store();
    const eval::TextId id = store.intern(name);
    eval::Value made[kAlternatives];
    std::uint32_t n = 0;
    if (array) {
      char joined[4096];
      std::size_t size = 0;
      bool known = true;
      for (std::uint32_t i = 0; i < count; ++i) {
        if (values[i].text.size() + 1 > sizeof joined - size) {
          known = false;
          break;
        }
        std::memcpy(joined + size, values[i].text.data(), values[i].text.size());
        size += values[i].text.size();
        joined[size++] = eval::kBetween;
        made[0].origin |= values[i].flags;
      }
      made[0].text = known ? store.intern({joined, size}) : eval::kOther;
      made[0].origin |= eval::provenance::kList;
      n = 1;
    } else {
      for (; n < count && n < kAlternatives; ++n) {
        made[n].text = values[n].text == kUnknown ? eval::kOther : store.intern(values[n].text);
        made[n].origin = values[n].flags;
      }
    }
    eval::Set set = store.set_of(made, n);
    if (merge) set = store.either(set, store.get(*now, key(id)));
    store.put(*now, key(id), set);
  }
  void mark_exported(string_view name, Exported exported) noexcept {
    eval::Store& store = run->store();
    const eval::Set yes = store.one(eval::kEmpty);
    store.put(*now, eval::key_of(eval::Key::exported, store.intern(name)), exported == Exported::yes ? yes : exported == Exported::no ? store.none : store.either(yes, store.none));
  }
  // Whether a byte sets words apart.
  bool separates(char c) noexcept {
    const Variable* const set = find("IFS");
    return set == nullptr || set->count != 1 || holds(values(*set)[0].text, kUnknownPart) ? is_blank(c) || c == '\n' : holds(values(*set)[0].text, c);
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

  static constexpr std::uint32_t kAlternatives = eval::kValues;
  static constexpr std::uint16_t unset_flags = word_flag::kUnknown | word_flag::kMayBeEmpty | word_flag::kEnvironment;

  eval::Evaluator* run = nullptr;
  eval::State* now = nullptr;  // of the command that is read
  string_view cwd;             // its folder; empty where that is not known
  Pool<Alias, 24> aliases;     // of git, and of names that hash gives
  Pool<WrittenFile, 96> files;
  Pool<Mount, 16> mounts;
  static constexpr std::uint32_t kStarted = 4;
  static constexpr std::uint32_t kMadeFolders = 8;
  string_view made_folders[kMadeFolders];  // by mkdir
  std::uint32_t made_count = 0;
  string_view started_ports[kStarted];  // of this machine, of containers without volumes that the text started
  std::uint32_t started_count = 0;
  Word secret_file;               // that was read last
  string_view home;               // what HOME is until something sets it
  std::uint32_t made_files = 0;  // names given out for process substitutions
  std::uint32_t level = 0;       // how deep in groups, substitutions and nested code
  bool names_environment = false;  // a variable like RAILS_ENV was set
  string_view unexported;        // a variable like RAILS_ENV that was set for this shell alone
  bool exports = false;          // export was used

 private:
  static constexpr std::uint32_t kFound = 4;
  Variable found_[kFound];
  Value values_[kFound * kAlternatives];
  std::uint32_t next_ = 0;
  std::uint32_t next_file_ = 0;
};

}  // namespace tipstaff::gate::shell
