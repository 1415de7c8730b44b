// Calls that wait for a person, and what a person answered to them: allowed once, or refused, for a while and for exactly the
// same call.
//
// A call's code is made of the hash of what it would do and where. The hook leaves the call under that code in
// pending/; `tipstaff approve CODE`, run by a person in a terminal, signs it with the key and writes approvals/CODE:
//   tipstaff-approval-1 CODE EXPIRY SUBJECT NONCE SIGNATURE
// (tipstaff-refusal-1 for a refusal.) EXPIRY in seconds since 1970, SUBJECT the SHA-256 of tool, folder, parameters and
// the files that were read to judge the call, NONCE a number that no two answers share,
// SIGNATURE the HMAC-SHA256 of what is before it; where a person has set up a signer (its public key is in `signer`), their
// Ed25519 signature of it, and no other counts. The hook leaves a mark of each approval that it has used in used/
// (one file is made, one call wins), so that it counts once, and an old copy of it not at all; a refusal counts until it
// expires. A host that asks about one call by two registrations is answered twice.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "tipstaff/gate/tree/files.hpp"
#include "tipstaff/hook/event.hpp"
#include "tipstaff/hook/pruning.hpp"
#include "tipstaff/hook/sha256.hpp"
#include "tipstaff/hook/state.hpp"

namespace tipstaff::hook {

struct Subject {
  Digest digest;
  char hex[64];
  char code[8];  // letters and digits that are not taken for each other

  std::string_view code_view() const noexcept { return {code, sizeof code}; }
  std::string_view hex_view() const noexcept { return {hex, sizeof hex}; }
};

// The files that were read to judge a call, and those that scripts among them import from beside them. What is in them is
// part of what a person allows: whole, or nothing can be allowed.
class ReadFiles {
 public:
  static constexpr std::uint32_t kFiles = 64;
  static constexpr std::size_t kLongest = 4 << 20;  // of all of them
  struct File {
    char path[512];
    std::size_t path_bytes;
    std::uint64_t bytes;
    Digest digest;

    std::string_view path_view() const noexcept { return {path, path_bytes}; }
  };

  void open(gate::Surroundings* around) noexcept {
    gate::files::open(around);
    inner_ = around->read_file;
    if (inner_ == nullptr) return;
    around->self = this;
    around->read_file = read;
  }
  // Reads the rest of each file, and what is imported; false where that is too much for anybody to allow.
  bool complete() noexcept;
  std::uint32_t count() const noexcept { return count_; }
  const File& operator[](std::uint32_t index) const noexcept { return files_[index]; }
  // Of all of them, in the order in which they were read.
  Digest digest() const noexcept;

 private:
  static long long read(void* self, std::string_view path, char* out, std::size_t capacity) noexcept {
    auto* const files = static_cast<ReadFiles*>(self);
    const long long size = files->inner_(nullptr, path, out, capacity);
    if (size >= 0) files->add(path, {out, static_cast<std::size_t>(size) < capacity ? static_cast<std::size_t>(size) : capacity}, static_cast<std::uint64_t>(size));
    return size;
  }
  bool has(std::string_view path) const noexcept {
    for (std::uint32_t i = 0; i < count_; ++i)
      if (files_[i].path_view() == path) return true;
    return false;
  }
  void add(std::string_view path, std::string_view text, std::uint64_t bytes) noexcept {
    if (has(path)) return;
    if (count_ == kFiles || path.size() > sizeof File::path) {
      too_many_ = true;
      return;
    }
    File& file = files_[count_++];
    file.path_bytes = path.size();
    std::memcpy(file.path, path.data(), file.path_bytes);
    file.bytes = bytes;
    Sha256 hash;
    hash.update(text);
    file.digest = hash.finish();
  }
  void follow(std::string_view script, std::string_view text) noexcept;
  bool import(std::string_view folder, std::string_view name) noexcept;

  long long (*inner_)(void*, std::string_view, char*, std::size_t) noexcept = nullptr;
  std::uint32_t count_ = 0;
  bool too_many_ = false;
  File files_[kFiles];
};

namespace subjects {

class Hashing {
 public:
  void put(std::string_view text) noexcept {
    unsigned char length[8];
    for (int i = 0; i < 8; ++i) length[i] = static_cast<unsigned char>(static_cast<std::uint64_t>(text.size()) >> (8 * i));
    hash_.update({reinterpret_cast<const char*>(length), sizeof length});
    hash_.update(text);
  }

  // A value with all below it: of numbers and booleans, their words. `shell`: what a model says about a command, and how
  // long it would wait, is not what the command does.
  void put(const Json& json, std::uint32_t index, bool shell) noexcept {
    const JsonNode& node = json[index];
    const char kind = static_cast<char>('0' + static_cast<int>(node.kind));
    put(std::string_view(&kind, 1));
    if (node.kind != JsonKind::object && node.kind != JsonKind::array) return put(node.text);
    for (std::uint32_t i = node.child; i != kNoNode; i = json[i].next) {
      if (shell && (json[i].key == "description" || json[i].key == "timeout")) continue;
      put(json[i].key);
      put(json, i, false);
    }
    put("end");
  }

  Digest finish() noexcept { return hash_.finish(); }

 private:
  Sha256 hash_;
};

}  // namespace subjects

// Hashes what a call would do. Lengths are before texts, so that no two calls have the same bytes.
inline subjects::Hashing hash_of(const Json& json, const HookEvent& event, std::string_view cwd) noexcept {
  subjects::Hashing hash;
  hash.put("tipstaff-call-4");
  hash.put(event.tool);
  hash.put(cwd);
  const bool shell = gate::tools::classify(event.tool) == gate::ToolClass::shell;
  if (event.host == Host::cursor && shell) {  // its two events for one command have it in different fields
    hash.put(json.text(event.input != kNoNode ? event.input : 0, "command"));
  } else {
    if (event.input != kNoNode) hash.put(json, event.input, shell);
    if (event.host == Host::cursor)  // whose parameters may be beside the rest
      for (std::string_view key : {"command", "url", "file_path"}) hash.put(json.text(0, key));
  }
  return hash;
}

// The call with the files that it reads.
inline Subject subject_of(subjects::Hashing hash, const ReadFiles& files) noexcept {
  const Digest digest = files.digest();
  hash.put({reinterpret_cast<const char*>(digest.bytes), sizeof digest.bytes});
  Subject subject;
  subject.digest = hash.finish();
  write_hex(subject.digest, subject.hex);
  std::uint64_t bits = 0;
  for (int i = 0; i < 8; ++i) bits = bits << 8 | subject.digest.bytes[i];
  for (char& letter : subject.code) {
    letter = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"[bits & 31];
    bits >>= 5;
  }
  return subject;
}

// The bytes of an event as they were before anything was masked in them.
class Original {
 public:
  static constexpr std::size_t kLongest = 1 << 20;  // of a call that a person may be asked to read

  void keep(char* text, std::size_t bytes) noexcept {
    if (bytes > kLongest || text == nullptr) return;
    void* memory = ::mmap(nullptr, bytes + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return;
    kept_ = static_cast<char*>(memory);
    text_ = text;
    bytes_ = bytes;
    std::memcpy(kept_, text_, bytes_);
  }
  // Exchanges the two; false where nothing was kept.
  bool exchange() const noexcept {
    for (std::size_t i = 0; i < bytes_; ++i) {
      const char one = text_[i];
      text_[i] = kept_[i];
      kept_[i] = one;
    }
    return text_ != nullptr;
  }

 private:
  char *text_ = nullptr, *kept_ = nullptr;
  std::size_t bytes_ = 0;
};

namespace approvals {

inline std::string_view next_word(std::string_view* text) noexcept {
  const std::size_t end = text->find(' ');
  const std::string_view word = text->substr(0, end);
  *text = end == std::string_view::npos ? std::string_view{} : text->substr(end + 1);
  return word;
}

enum class Answer : std::uint8_t { none, allowed, refused };

constexpr std::uint64_t kSameCallS = 10;

// Whether a record is signed: by the person's own key where they have one, by the key of the state else.
inline bool is_signed(const Path& state, std::string_view record, std::string_view signature) noexcept {
  constexpr std::string_view kSigner = "tipstaff-signer-1 ";
  char text[4096], expected[64];
  Path path = state;
  if (::access(path.add("/signer").c_str(), F_OK) == 0) {
    const long bytes = read_private(path, text, sizeof text);
    const std::string_view line(text, bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
    unsigned char key[32], signed_by[64];
    return line.substr(0, kSigner.size()) == kSigner && read_bytes(line.substr(kSigner.size(), 64), key, sizeof key) &&
           read_bytes(signature, signed_by, sizeof signed_by) &&
           verify_ed25519({reinterpret_cast<const char*>(key), sizeof key}, record, {reinterpret_cast<const char*>(signed_by), sizeof signed_by});
  }
  path = state;
  const long bytes = read_private(path.add("/key"), text, 64);
  if (bytes < 32) return false;
  write_hex(hmac_sha256({text, static_cast<std::size_t>(bytes)}, record), expected);
  return equal_secretly({expected, sizeof expected}, signature);
}

// `SECONDS HEX HEX` of a mark in used/: when, who asked, and the host's name of the call.
struct Mark {
  std::uint64_t at = 0, asker = 0, call = 0;

  bool read(std::string_view text) noexcept {
    std::size_t i = 0;
    for (; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i) at = at * 10 + static_cast<unsigned>(text[i] - '0');
    return i != 0 && read_hex(text, &i, &asker) && read_hex(text, &i, &call);
  }

 private:
  static bool read_hex(std::string_view text, std::size_t* i, std::uint64_t* out) noexcept {
    if (*i + 17 > text.size() || text[(*i)++] != ' ') return false;
    for (const std::size_t end = *i + 16; *i < end; ++*i) {
      const char c = text[*i];
      if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) return false;
      *out = *out << 4 | static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return true;
  }
};

// Returns what a person answered to exactly this call; permission is used up by that.
inline Answer take(const Path& state, const Subject& subject, const HookEvent& event, std::uint64_t now_s) noexcept {
  Path path = state;
  path.add("/approvals/").add(subject.code_view());
  char text[512];
  const long bytes = read_private(path, text, sizeof text);
  if (bytes <= 0) return Answer::none;
  std::string_view line(text, static_cast<std::size_t>(bytes));
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
  const std::size_t last = line.rfind(' ');
  if (last == std::string_view::npos) return Answer::none;
  const std::string_view record = line.substr(0, last), signature = line.substr(last + 1);
  std::string_view rest = record;
  const std::string_view kind = next_word(&rest), code = next_word(&rest), expiry = next_word(&rest);
  const bool refused = kind == "tipstaff-refusal-1";
  if (!refused && kind != "tipstaff-approval-1") return Answer::none;
  if (code != subject.code_view() || next_word(&rest) != subject.hex_view()) return Answer::none;
  std::uint64_t until = 0;
  if (expiry.empty() || expiry.size() > 15) return Answer::none;
  for (char digit : expiry) {
    if (digit < '0' || digit > '9') return Answer::none;
    until = until * 10 + static_cast<unsigned>(digit - '0');
  }
  if (!is_signed(state, record, signature)) return Answer::none;
  if (now_s > until) {
    ::unlink(path.c_str());
    return Answer::none;
  }
  if (refused) return Answer::refused;
  const std::uint64_t asker = fnv64(event.name) ^ fnv64(name_of(event.host)) << 1;
  const std::uint64_t call = event.call.empty() ? 0 : fnv64(event.call) ^ fnv64(event.session) << 1;
  Path used = state;
  used.add("/used/").add(signature.substr(0, 32));
  int mark = open_state(used, O_WRONLY | O_CREAT | O_EXCL);
  if (mark < 0 && errno == EEXIST) {
    char text_of_mark[64];
    const long known = read_private(used, text_of_mark, sizeof text_of_mark);
    Mark first;
    if (known <= 0 || !first.read({text_of_mark, static_cast<std::size_t>(known)})) return Answer::none;
    // Another registration asks about the same call, by the host's name for it or right after the first: once. The name
    // alone is no proof, since whoever replays an event repeats it.
    const bool same_call = call != 0 && call == first.call;
    if (first.asker == asker || (!same_call && now_s > first.at + kSameCallS)) return Answer::none;
    mark = open_state(used.add("-").hex(asker), O_WRONLY | O_CREAT | O_EXCL);
  }
  if (mark < 0) return Answer::none;
  char memory[64];
  Writer out(memory, sizeof memory);
  out.number(now_s).raw(" ").hex(asker).raw(" ").hex(call).raw("\n");
  const bool kept = write_whole(mark, out.view());
  ::close(mark);
  return kept ? Answer::allowed : Answer::none;
}

constexpr std::uint32_t kMostPending = 200;

// Leaves a call for a person to look at, and returns whether that can be kept. `shown` is a JSON object that tells them
// what it is.
inline bool leave(const Path& state, const Subject& subject, std::string_view shown) noexcept {
  Path path = state, scratch = state;
  path.add("/pending/").add(subject.code_view());
  scratch.add("/pending/.new-").add(subject.code_view()).add("-").hex(static_cast<std::uint64_t>(::getpid()));
  const int file = open_state(scratch, O_WRONLY | O_CREAT | O_TRUNC);
  if (file < 0) return false;
  const bool whole = write_whole(file, shown);
  ::close(file);
  if (whole && path.ok() && ::rename(scratch.c_str(), path.c_str()) == 0) {
    pruning::keep_newest(state, "pending", kMostPending);
    return true;
  }
  ::unlink(scratch.c_str());
  return false;
}

}  // namespace approvals

}  // namespace tipstaff::hook
