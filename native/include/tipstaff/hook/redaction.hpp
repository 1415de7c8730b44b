// Secrets in an event's texts: found, reported, and masked where they are, before anything of it is shown or kept.
//
// Masking writes into the event's own bytes, the buffer that it was read into. A mask is as long as what it covers.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "tipstaff/gate/patch/former.hpp"
#include "tipstaff/hook/event.hpp"
#include "tipstaff/hook/folding.hpp"
#include "tipstaff/hook/json.hpp"
#include "tipstaff/secrets/scanner.hpp"
#include "tipstaff/secrets/trials.hpp"
#include "tipstaff/secrets/trials/paths.hpp"

namespace tipstaff::hook {

class Redaction {
 public:
  struct Location {
    std::size_t start = 0, end = 0;  // bytes of the text
    std::string_view rule;
  };
  // What the secrets of a call come to: how many are none of a trial, the first of them, and the worst severity.
  struct Weight {
    std::uint32_t counted = 0, severity = 0;
    bool command = false;  // the texts are commands, and no contents of files
    std::string_view root;  // the folder of the repository, or the one that the call works in
    Location first;
  };

  // Lays the table over bytes; false where they are not a valid table. `known`: they are the program's own.
  bool open(std::string_view bytes, bool known) noexcept {
    distinct_ = 0;
    usable_ = secrets::Table::open(reinterpret_cast<const secrets::Byte*>(bytes.data()), bytes.size(), &table_, known) ==
              secrets::Fault::none;
    return usable_;
  }
  bool usable() const noexcept { return usable_; }
  // How many secrets were masked, each value once.
  std::uint32_t distinct() const noexcept { return distinct_; }

  // Masks the secrets of a text and returns their number; `first` is the first of them. `wary` as in
  // tipstaff.gates.scan_secrets: whether to report low-confidence matches.
  // `weight`, where one is given, is changed by those outside `former` parts; `path`: the file that the text is for, empty
  // for a command.
  std::uint32_t mask(std::string_view text, bool wary, Weight* weight, std::string_view path = {},
                     gate::FormerParts* former = nullptr) noexcept {
    if (!usable_ || text.size() < 3) return 0;
    auto* const bytes = reinterpret_cast<secrets::Byte*>(const_cast<char*>(text.data()));
    std::uint32_t masked = 0;
    gate::Span part;
    bool has_part = former != nullptr && former->next(&part);
    for (int round = 0; round < kRounds; ++round) {
      const std::size_t found = secrets::scan(table_, bytes, text.size(), find_literals_portable, wary, found_, kRoom);
      if (found == 0) return masked + mask_folded(text, wary, weight, path);
      const std::size_t kept = secrets::resolve(found_, found < kRoom ? found : kRoom);
      for (std::size_t i = 0; weight != nullptr && i < kept; ++i) {
        // Of more than one round the first alone goes by parts: later ones start over.
        while (has_part && part.end <= found_[i].start) has_part = former->next(&part);
        if (has_part && round == 0 && found_[i].start >= part.start && found_[i].end <= part.end) continue;
        add({bytes, text.size()}, found_[i], path, {found_[i].start, found_[i].end, rule_name(found_[i].rule)}, weight);
      }
      for (std::size_t i = 0; i < kept; ++i) meet(text.substr(found_[i].start, found_[i].end - found_[i].start));
      secrets::mask(table_, bytes, found_, kept);
      masked += static_cast<std::uint32_t>(kept);
      if (found <= kRoom) return masked + mask_folded(text, wary, weight, path);  // else there are more than there was room for
    }
    std::memset(bytes, '*', text.size());
    return masked;
  }

  // The same for a short text that may only be a secret by its field's name: `password` and what it holds.
  std::uint32_t mask_named(std::string_view name, std::string_view text, bool wary, Weight* weight, std::string_view path = {}) noexcept {
    if (!usable_ || name.empty() || name.size() > 128 || text.empty() || text.size() > kPair) return 0;
    char memory[6 * kPair + 1024];
    Writer pair(memory, sizeof memory);
    pair.string(name).raw(": ");
    const std::size_t head = pair.size();
    pair.string(text);
    if (pair.full()) return 0;
    const bool plain = pair.size() - head == text.size() + 2;
    const std::size_t found = secrets::scan(table_, reinterpret_cast<const secrets::Byte*>(memory), pair.size(),
                                            find_literals_portable, wary, found_, kRoom);
    const std::size_t kept = secrets::resolve(found_, found < kRoom ? found : kRoom);
    char* const bytes = const_cast<char*>(text.data());
    std::uint32_t masked = 0;
    for (std::size_t i = 0; i < kept; ++i) {
      if (found_[i].end <= head + 1) continue;  // of the name alone
      std::size_t start = 0, end = text.size();
      if (plain && found_[i].start > head) {
        start = found_[i].start - head - 1;
        end = found_[i].end - head - 1 < text.size() ? found_[i].end - head - 1 : text.size();
      }
      if (start >= end) continue;
      ++masked;
      if (weight != nullptr) add({reinterpret_cast<const secrets::Byte*>(memory), pair.size()}, found_[i], path, {start, end, rule_name(found_[i].rule)}, weight);
      meet(text.substr(start, end - start));
      std::memset(bytes + start, '*', end - start);
    }
    return masked;
  }

  // Masks every text below a value, names of members included.
  std::uint32_t mask_all(const Json& json, std::uint32_t index, std::string_view name, bool wary) noexcept {
    const JsonNode& node = json[index];
    std::uint32_t masked = 0;
    if (node.kind == JsonKind::string) {
      masked = mask(node.text, wary, nullptr);
      return masked != 0 ? masked : mask_named(name, node.text, wary, nullptr);
    }
    for (std::uint32_t i = node.child; i != kNoNode; i = json[i].next) {
      const bool object = node.kind == JsonKind::object;
      if (object && json[i].key.size() >= kLeastName) masked += mask(json[i].key, wary, nullptr);
      masked += mask_all(json, i, object ? json[i].key : name, wary);
    }
    return masked;
  }

  std::uint32_t mask_names(const Json& json, std::uint32_t index, Weight* weight) noexcept {
    const JsonNode& node = json[index];
    std::uint32_t masked = 0;
    if (node.kind != JsonKind::object && node.kind != JsonKind::array) return 0;
    for (std::uint32_t i = node.child; i != kNoNode; i = json[i].next) {
      if (node.kind == JsonKind::object && json[i].key.size() >= kLeastName)
        masked += mask(json[i].key, true, weight);
      masked += mask_names(json, i, weight);
    }
    return masked;
  }

 private:
  // What is not a secret byte by byte, but is one to whoever reads it.
  std::uint32_t mask_folded(std::string_view text, bool wary, Weight* weight, std::string_view path) noexcept {
    const bool steered = folding::has_steering(text);
    if (!steered && std::memchr(text.data(), '\n', text.size()) == nullptr) return 0;
    constexpr std::size_t kSmall = 4096;
    char small_text[kSmall];
    std::uint32_t small_at[kSmall];
    // A joined word may be written again with a line's end after it.
    const std::size_t room = text.size() + text.size() / 2 + 2;
    folding::Folded folded{small_text, small_at};
    void* memory = nullptr;
    if (room > kSmall) {
      memory = ::mmap(nullptr, room * 5, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (memory == MAP_FAILED) return 0;
      folded = {static_cast<char*>(memory) + room * 4, static_cast<std::uint32_t*>(memory)};
    }
    std::uint32_t masked = 0;
    if (steered) {
      folding::strip(text, &folded);
      masked += mask_at(text, folded, wary, 0, weight, path);
      folded.size = 0;
    }
    folding::join(text, &folded);
    masked += mask_at(text, folded, wary, kProviders, weight, path);
    if (memory != nullptr) ::munmap(memory, room * 5);
    return masked;
  }

  // Masks in a text the secrets of what was folded of it, from a severity on.
  std::uint32_t mask_at(std::string_view text, const folding::Folded& folded, bool wary, std::uint32_t least, Weight* weight,
                        std::string_view path) noexcept {
    if (folded.size < kLeastName) return 0;
    const auto* const bytes = reinterpret_cast<const secrets::Byte*>(folded.text);
    const std::size_t found = secrets::scan(table_, bytes, folded.size, find_literals_portable, wary, found_, kRoom);
    const std::size_t kept = secrets::resolve(found_, found < kRoom ? found : kRoom);
    char* const original = const_cast<char*>(text.data());
    std::uint32_t masked = 0;
    for (std::size_t i = 0; i < kept; ++i) {
      if (table_.rule(found_[i].rule).severity < least) continue;
      ++masked;
      const std::size_t start = folded.at[found_[i].start], end = folded.at[found_[i].end - 1] + 1;
      if (weight != nullptr) add({bytes, folded.size}, found_[i], path, {start, end, rule_name(found_[i].rule)}, weight);
      meet({folded.text + found_[i].start, found_[i].end - found_[i].start});
      for (std::size_t at = found_[i].start; at < found_[i].end; ++at)
        if (folded.text[at] != '\n') original[folded.at[at]] = '*';
    }
    if (found > kRoom) std::memset(original, '*', text.size());
    return masked;
  }

  void meet(std::string_view value) noexcept {
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (const char c : value) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    for (std::uint32_t i = 0; i < distinct_ && i < kMet; ++i)
      if (met_[i] == hash) return;
    if (distinct_ < kMet) met_[distinct_] = hash;
    ++distinct_;
  }
  static constexpr std::uint32_t kMet = 64;
  std::uint64_t met_[kMet];
  std::uint32_t distinct_ = 0;

  static constexpr std::uint32_t kProviders = 2;  // from this severity on a secret is one wherever it is
  static secrets::Bytes bytes_of(std::string_view text) noexcept {
    return {reinterpret_cast<const secrets::Byte*>(text.data()), text.size()};
  }
  void add(secrets::Bytes text, const secrets::Finding& found, std::string_view path, const Location& location, Weight* weight) noexcept {
    std::uint32_t severity = table_.rule(found.rule).severity;
    if (severity < kProviders) {
      // What only its name calls a secret may be one of a trial in a command; in a file it counts, unless that is of tests.
      if (weight->command ? secrets::is_trial(table_.known(), text, found.start, found.end, bytes_of(path), bytes_of(weight->root))
                          : secrets::trials::is_trial_path(table_.known(), bytes_of(path), bytes_of(weight->root)))
        return;
      if (!weight->command) severity = kProviders;
    }
    if (weight->counted++ == 0) weight->first = location;
    if (severity + 1 > weight->severity) weight->severity = severity + 1;
  }

  static constexpr std::size_t kRoom = 512;
  static constexpr std::size_t kPair = 512;
  static constexpr std::size_t kLeastName = 8;
  static constexpr int kRounds = 64;

  std::string_view rule_name(std::uint32_t number) const noexcept {
    const secrets::Bytes name = table_.rule_name(number);
    return {reinterpret_cast<const char*>(name.data), name.size};
  }

  secrets::Table table_;
  secrets::Finding found_[kRoom];
  bool usable_ = false;
};

}  // namespace tipstaff::hook
