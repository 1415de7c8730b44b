// What the gate itself is made of on this machine, and which words of a command lead to it: its state folder with the
// key, the approvals and the policies, its program, and the settings by which hosts start it.
//
// Rules judge it as commands of their own, so that what any program may do with it is data:
//   @gate KIND PROGRAM PATH WORDS...   KIND: state log holds-state program holds-program registration
//                                      holds-registration
//   @answers PROGRAM WORDS...          words that ask for what a person alone may do, or code that calls for it
#pragma once

#include <array>
#include <cstdint>
#include <new>
#include <string_view>

#include "tipstaff/gate/paths/classes.hpp"
#include "tipstaff/gate/paths/guarded_hints.hpp"
#include "tipstaff/gate/paths/own_paths.hpp"
#include "tipstaff/gate/tree/word_table.hpp"

namespace tipstaff::gate {

// Ordered from harmless to harmful.
enum class Guarded : std::uint8_t { none, log, holds_registration, registration, holds_program, program, holds_state, state };

inline std::string_view name_of(Guarded kind) noexcept {
  switch (kind) {
    case Guarded::log: return "log";
    case Guarded::holds_registration: return "holds-registration";
    case Guarded::registration: return "registration";
    case Guarded::holds_program: return "holds-program";
    case Guarded::program: return "program";
    case Guarded::holds_state: return "holds-state";
    case Guarded::state: return "state";
    case Guarded::none: break;
  }
  return "none";
}

// Files by which a host starts the gate, and what it is compiled from; a subset of kWiringFolders: no checks of commits.
inline constexpr WiringFolder kRegistrations[] = {
    {".claude", "settings.json settings.local.json managed-settings.json"},
    {".codex", "hooks.json config.toml requirements.toml"},
    {".gemini", "settings.json"},
    {".cursor", "hooks.json cli.json cli-config.json"},
    {".copilot", "hooks config.json settings.json"},
    {".tipstaff", "gates.toml packs secrets"},
    {".qwen", "settings.json"},
    {".opencode", "plugin plugins opencode.json"},
};

namespace guarded_detail {

inline bool holds(std::string_view text, std::string_view part) noexcept { return text.find(part) != std::string_view::npos; }

// Whether what follows `tipstaff` in one text asks for an answer: a word of its own, after something that is no name.
inline bool asks_for_answer(std::string_view rest) noexcept {
  if (rest.size() > 200) rest = rest.substr(0, 200);
  for (const std::string_view verb : {std::string_view("approve"), std::string_view("uninstall"), std::string_view("memory accept")}) {
    for (std::size_t at = rest.find(verb); at != std::string_view::npos; at = rest.find(verb, at + 1)) {
      const char before = at == 0 ? 'x' : rest[at - 1];
      const char after = at + verb.size() < rest.size() ? rest[at + verb.size()] : ' ';
      const bool apart = !ascii::is_name(before) && before != '-' && before != '/' && before != '.';
      if (apart && !ascii::is_name(after) && after != '-' && after != '.' && after != '/') return true;
    }
  }
  return false;
}

// Code that calls this package's own answering, or writes its policies.
inline bool imports_answering(std::string_view code) noexcept {
  if (!holds(code, "tipstaff") || !(holds(code, "import") || holds(code, "require"))) return false;
  for (const std::string_view name :
       {std::string_view("tipstaff.hosts"), std::string_view("tipstaff import hosts"), std::string_view("hosts.approvals"),
        std::string_view("import approvals"), std::string_view("read_key"), std::string_view("write_policy"),
        std::string_view("compile_policy"), std::string_view("policy_file"), std::string_view("tipstaff.store.state"),
        std::string_view("repository_policy"), std::string_view("tipstaff.store.keys"), std::string_view("tipstaff.store.shipped"),
        std::string_view("private_key"), std::string_view("accept_weakenings"), std::string_view("take_over("),
        std::string_view("run_module"), std::string_view("policy_review"), std::string_view("tipstaff.cli.person"),
        // A terminal of its own: what asks a person is asked for there.
        std::string_view("import pty"), std::string_view("pty.spawn"), std::string_view("pexpect"), std::string_view("ptyprocess"),
        std::string_view("openpty"), std::string_view("forkpty"), std::string_view("node-pty"), std::string_view("TIOCSTI")})
    if (holds(code, name)) return true;
  return holds(code, "tipstaff.cli") && (holds(code, "approve") || holds(code, "uninstall"));
}

}  // namespace guarded_detail

// Whether text asks for, or code calls for, what a person alone may do: `tipstaff approve`.
inline bool calls_for_answer(std::string_view text) noexcept {
  using namespace guarded_detail;
  for (std::size_t at = text.find("tipstaff"); at != std::string_view::npos; at = text.find("tipstaff", at + 8))
    if (asks_for_answer(text.substr(at + 8))) return true;
  return imports_answering(text);
}

// Programs that put files into a folder by their own names.
inline constexpr std::uint32_t kContainers = 1;
inline constexpr auto kFillers = [](std::uint32_t list) constexpr noexcept {
  return list == kContainers ? std::string_view("docker podman nerdctl") : std::string_view("cp mv ln install rsync scp gcp rclone");
};
inline constexpr WordTable<32> kFillerTable(2, kFillers);

// Finds what is guarded among the words of commands. Made for one event; paths are taken apart when first asked for.
class GuardedPaths {
 public:
  explicit GuardedPaths(KnownPaths& paths) noexcept : around_(paths.around()), paths_(paths), hints_(around_.state, around_.program) {}

  // False: no word of this text leads there, as long as no link does. At most one pass over the text.
  bool may_be_in(std::string_view text) const noexcept {
    if (around_.state.empty() && around_.program.empty()) return false;
    return around_.follows_links || near(around_.cwd) || hints_.may_lead(text);
  }

  // What a word leads to: the worst that one of its readings as a path is.
  Guarded find(const Command& command, const Word& word) noexcept {
    const std::string_view text = word.text;
    if (text.empty()) return Guarded::none;
    const bool by_name = !around_.follows_links || around_.real_path == nullptr;  // no link leads there unasked
    // Of long words that were put together fewer readings are tried, and in the end none, when there are very many of them.
    if (text.size() > kLongMade && text.size() > word.span.end - word.span.start) made_bytes_ += text.size();
    if (text.size() > kLongestPath && made_bytes_ > kMadeBytes) return Guarded::state;
    const auto stays = [&](std::string_view part) noexcept { return by_name && guarded_hints::stays_below(part) && is_apart(command.cwd); };
    if (stays(text)) return Guarded::none;
    if ((command.via & (via::kRemote | via::kContainer)) != 0 && !word.has(word_flag::kHostPath)) return Guarded::none;
    if (text.find("://") != std::string_view::npos && !ascii::starts_with(text, "file://")) return Guarded::none;
    Guarded worst = Guarded::none;
    const auto look = [&](std::string_view part) noexcept {
      if (part.empty() || (part.size() > kLongestPath && !word.has(word_flag::kGlob))) return;  // no system opens these
      if (by_name && passes_by(command, part)) return;
      const Guarded found = of_path(command, part, word);
      if (found > worst) worst = found;
    };
    if (text[0] != '-') look(text);
    // --file=PATH, if=PATH, -v PATH:PATH, @PATH, -IPATH
    if (text[0] == '@') look(text.substr(1));
    if (text.size() > 2 && text[0] == '-' && text[1] != '-') look(text.substr(2));
    // Of a few parts all readings; of more only what is between the marks, so that time grows with the word alone.
    std::uint32_t parts = text.size() > kLongestPath || (text.size() > kLongMade && made_bytes_ > kMadeBytes / 4) ? kParts : 0;
    for (std::size_t at = guarded_hints::mark_in(text, 0); at < text.size(); at = guarded_hints::mark_in(text, at + 1), ++parts) {
      const std::string_view rest = text.substr(at + 1);
      const std::size_t end = parts < kParts ? rest.find_first_of(":,") : guarded_hints::mark_in(rest, 0);
      const std::string_view one = rest.substr(0, end);
      if (parts < kParts) {
        if (text[at] == ':' || text[at] == ',') look(text.substr(0, at));
        look(one);
        if (one.size() != rest.size()) look(rest);
      } else if (!stays(one)) {
        if (listed_ == kListed) return Guarded::state;  // of lists that nobody writes all may be meant
        ++listed_;
        look(one);
      }
    }
    return worst;
  }

  // What a copy, move or link puts in place: FOLDER/NAME, or what is in the source where its contents are meant.
  Guarded filled(const Command& command, const Word* words) noexcept {
    const std::uint32_t filler = kFillerTable.find(command.program, kFillers);
    if (filler == kFillerTable.kNowhere) return Guarded::none;
    const bool container = filler == kContainers;
    if (container && (command.word_count == 0 || words[0].text != "cp")) return Guarded::none;
    const Word* to = nullptr;
    bool contents = false, named = false;
    for (std::uint32_t i = container ? 1 : 0; i < command.word_count; ++i) {
      const std::string_view text = words[i].text;
      if (text == "--no-target-directory" || (text.size() > 1 && text[0] == '-' && text[1] != '-' && text.find('T') != std::string_view::npos)) contents = true;
      if ((text == "-t" || text == "--target-directory") && i + 1 < command.word_count) to = &words[i + 1], named = true;
      else if (!named && !text.empty() && text[0] != '-') to = &words[i];
    }
    Word folder = to != nullptr ? *to : Word{};
    for (std::uint32_t i = 0; i < command.word_count; ++i)
      if (ascii::starts_with(words[i].text, "--target-directory=")) folder = words[i], folder.text.remove_prefix(19), to = nullptr, named = true;
    if (folder.text.empty()) return Guarded::none;
    Guarded worst = Guarded::none;
    for (std::uint32_t i = container ? 1 : 0; i < command.word_count; ++i) {
      if (&words[i] == to || words[i].text.empty() || words[i].text[0] == '-') continue;
      const Guarded found = put_in(command, words[i], folder, contents);
      if (found > worst) worst = found;
    }
    return worst;
  }

  // What the folder is in which a command runs.
  Guarded of_folder(std::string_view cwd) noexcept {
    if (cwd.empty() || around_.state.empty() || is_apart(cwd)) return Guarded::none;
    PathParts path;
    path_detail::take_path(cwd, &path);
    std::uint32_t depth = 0;
    const path_detail::Relation relation = own().state(around_).relation(path, &depth);
    return relation == path_detail::Relation::same || relation == path_detail::Relation::inside ? Guarded::state : Guarded::none;
  }

 private:
  using Relation = path_detail::Relation;

  // In the state folder, or above it: then words without a slash lead there.
  bool near(std::string_view cwd) const noexcept {
    const std::string_view state = around_.state;
    return !cwd.empty() && !state.empty() &&
           (state.substr(0, cwd.size()) == cwd || cwd.substr(0, state.size()) == state);
  }

  // Whether a folder is no guarded one, holds none and has no name that begins with a dot on its way: then names below it
  // lead to none either. Commands share their folder; the last answer is kept.
  bool is_apart(std::string_view cwd) noexcept {
    if (cwd.empty()) return true;
    OwnPaths& own = this->own();
    if (own.has_folder(cwd)) return own.is_apart();
    bool apart = cwd[0] == '/';
    for (std::size_t i = 0; i < cwd.size() && apart; ++i)
      apart = kClosed[static_cast<unsigned char>(cwd[i])] && (cwd[i] != '.' || cwd[i - 1] != '/');
    if (apart) {
      PathParts path;
      path_detail::take_path(cwd, &path);
      apart = !path.too_long && classify(path) == Guarded::none;
    }
    own.note_folder(cwd, apart);
    return apart;
  }
  // Whether an absolute path lies in another folder of the root than all that is guarded, and names nothing hidden.
  bool passes_by(const Command& command, std::string_view text) noexcept {
    if (text.size() < 3 || text[0] != '/' || command.dialect == Dialect::powershell || command.dialect == Dialect::cmd) return false;
    const std::size_t end = text.find('/', 1);
    const std::string_view first = text.substr(1, end == std::string_view::npos ? end : end - 1);
    if (first.size() < 2 || first.find_first_of(kOpen) != std::string_view::npos || text.find("/.") != std::string_view::npos) return false;
    if (ascii::one_of(first, "proc mnt cygdrive")) return false;
    const auto begins = [first](const PathParts& path) noexcept {
      return path.base == PathBase::root && (path.count == 0 || equal_folded(path.part[0], first));
    };
    const auto leads = [&](const OwnPaths::OwnPath& place) noexcept { return begins(place.lexical) || (place.has_real && begins(place.real)); };
    return (around_.state.empty() || !leads(own().state(around_))) && (around_.program.empty() || !leads(own().program(around_)));
  }
  static bool equal_folded(std::string_view one, std::string_view other) noexcept {
    if (one.size() != other.size()) return false;
    for (std::size_t i = 0; i < one.size(); ++i)
      if (ascii::lower(one[i]) != ascii::lower(other[i])) return false;
    return true;
  }

  OwnPaths& own() noexcept {
    if (own_ != nullptr) return *own_;
    own_ = around_.own_paths != nullptr ? around_.own_paths(around_.self) : new (room_) OwnPaths;
    own_->serve(around_);
    return *own_;
  }

  bool is_there(const Command& command, std::string_view folder, std::string_view first, std::string_view second) const noexcept {
    if (around_.real_path == nullptr) return false;
    char path[4096], real[4096];
    path[0] = 0;  // or compilers take the look at the byte before for one at nothing
    std::size_t size = 0;
    const auto add = [&](std::string_view part) noexcept {
      if (size + part.size() + 1 > sizeof path) return size = sizeof path, false;
      if (size != 0 && path[size - 1] != '/') path[size++] = '/';
      std::memcpy(path + size, part.data(), part.size());
      size += part.size();
      return true;
    };
    if (!folder.empty() && folder[0] == '~' && (folder.size() == 1 || folder[1] == '/')) {
      if (!add(around_.home)) return false;
      folder.remove_prefix(folder.size() == 1 ? 1 : 2);
    } else if (folder.empty() || folder[0] != '/') {
      if (command.cwd.empty() || !add(command.cwd)) return false;
    } else {
      path[size++] = '/';
      folder.remove_prefix(1);
    }
    if (!add(folder) || !add(first) || (!second.empty() && !add(second))) return false;
    return around_.real_path(around_.self, {path, size}, real, sizeof real) != 0;
  }

  Guarded put_in(const Command& command, const Word& source, const Word& folder, bool contents) noexcept {
    std::string_view from = source.text;
    contents = contents || ascii::ends_with(from, "/.") || (command.program == "rsync" && from.size() > 1 && from.back() == '/');
    while (from.size() > 1 && from.back() == '/') from.remove_suffix(1);
    std::size_t slash = from.rfind('/');
    std::string_view name = slash == std::string_view::npos ? from : from.substr(slash + 1);
    const bool pattern = source.has(word_flag::kGlob) && name.find_first_of("*?[") != std::string_view::npos;
    if (pattern) contents = name[0] == '.' || name[0] == '[' || name[0] == '?';
    Guarded worst = Guarded::none;
    const auto target = [&](std::string_view first, std::string_view second) noexcept {
      char path[4096];
      std::size_t size = 0;
      for (const std::string_view part : {folder.text, std::string_view("/"), first, second.empty() ? second : std::string_view("/"), second}) {
        if (size + part.size() > sizeof path) return;
        std::memcpy(path + size, part.data(), part.size());
        size += part.size();
      }
      const std::string_view whole(path, size);
      Word word = folder;
      const std::uint32_t bits = path_detail::classify_text(paths_, command, whole, word, false);
      if ((bits & path_class::kTemporary) != 0 && (bits & (path_class::kRepository | path_class::kHome)) == 0) return;
      Guarded found = of_path(command, whole, word);
      if (found == Guarded::holds_registration) found = Guarded::registration;
      if (found > worst) worst = found;
    };
    if (!contents) {
      if (const std::size_t colon = name.rfind(':'); colon != std::string_view::npos) name.remove_prefix(colon + 1);
      if (name == ".github" && is_there(command, from, "hooks", {})) target(name, "hooks");
      if (!pattern && name.size() > 1 && name[0] == '.' && name != "..") target(name, {});
      return worst;
    }
    if (pattern) from = slash == std::string_view::npos ? std::string_view(".") : from.substr(0, slash);
    for (const WiringFolder& one : kRegistrations)
      if (is_there(command, from, one.folder, {})) target(one.folder, {});
    if (is_there(command, from, ".github", "hooks")) target(".github", "hooks");
    return worst;
  }

  Guarded of_path(const Command& command, std::string_view text, const Word& word) noexcept {
    const bool windows = command.dialect == Dialect::powershell || command.dialect == Dialect::cmd;
    PathParts path;
    path.glob = word.has(word_flag::kGlob) || ascii::starts_with(command.program, "@tool-");
    take_path_apart(text, command.cwd, around_.home, windows, word.has(word_flag::kTemporary), &path);
    Guarded found = classify(path);
    if (around_.real_path == nullptr || path.too_long) return found;
    if (!around_.follows_links && found == Guarded::none) return found;
    char memory[4096];
    PathParts real;
    if (path.base == PathBase::root && path_detail::real_parts(around_, path, true, memory, sizeof memory, &real)) {
      const Guarded behind = classify(real);
      if (behind > found) found = behind;
    } else if ((found == Guarded::registration || found == Guarded::program) && path_detail::is_read_only(around_, path)) {
      return Guarded::none;  // the kernel refuses what these rules would
    }
    return found;
  }

  Guarded classify(const PathParts& path) noexcept {
    Guarded found = by_name(path);
    if (path.base != PathBase::root && path.base != PathBase::drive) return found;
    const auto take = [&](Guarded other) noexcept {
      if (other > found) found = other;
    };
    std::uint32_t depth = 0;
    if (!around_.state.empty()) {
      switch (own().state(around_).relation(path, &depth)) {
        case Relation::same: take(Guarded::state); break;
        case Relation::holds: take(Guarded::holds_state); break;
        case Relation::inside: {
          const bool shown = ascii::starts_with(path.part[depth], "spool.jsonl") || path.names(depth, "guidance");
          take(shown && !path.has_glob(path.part[depth]) ? Guarded::log : Guarded::state);
          break;
        }
        case Relation::other: break;
      }
    }
    if (!around_.program.empty()) {
      switch (own().program(around_).relation(path, &depth)) {
        case Relation::same: take(Guarded::program); break;
        case Relation::holds: take(Guarded::holds_program); break;
        default: break;
      }
    }
    return found;
  }

  static Guarded by_name(const PathParts& path) noexcept {
    for (std::uint32_t i = 0; i < path.count; ++i) {
      const std::string_view name = path.part[i];
      if (name.empty() || name[0] != '.' || path.is_everything(name)) continue;
      const bool last = i + 1 == path.count;
      for (const WiringFolder& one : kRegistrations) {
        if (!path.names(i, one.folder)) continue;
        if (last) return Guarded::holds_registration;
        if (path.names_one_of(i + 1, one.entries) && !path.means_documents(i + 1)) return Guarded::registration;
      }
      if (path.names(i, ".github") && path.names(i + 1, "hooks") && !path.means_documents(i + 1)) return Guarded::registration;
      if (path.names(i, ".config") && path.names(i + 1, "opencode") &&
          path.names_one_of(i + 2, "plugin plugins opencode.json opencode.jsonc"))
        return Guarded::registration;
    }
    return Guarded::none;
  }

  static constexpr std::size_t kLongestPath = 4096;
  static constexpr std::size_t kMadeBytes = 1024 * 1024, kLongMade = 512;
  static constexpr std::uint32_t kParts = 6, kListed = 1 << 14;
  static constexpr char kOpen[] = {'*', '?', '[', kUnknownPart, 0};  // a part with one of them has several names
  static constexpr auto kClosed = []() constexpr noexcept {
    std::array<bool, 256> closed{};
    for (std::size_t c = 0; c < 256; ++c) closed[c] = c != '*' && c != '?' && c != '[' && c != static_cast<unsigned char>(kUnknownPart);
    return closed;
  }();

  const Surroundings& around_;
  KnownPaths& paths_;
  const guarded_hints::TextHints hints_;
  OwnPaths* own_ = nullptr;
  std::uint32_t listed_ = 0;  // paths in long lists that were looked at
  std::size_t made_bytes_ = 0;
  alignas(OwnPaths) unsigned char room_[sizeof(OwnPaths)];  // where no caller keeps them
};

}  // namespace tipstaff::gate
