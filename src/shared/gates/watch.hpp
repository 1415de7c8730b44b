// The secrets gate's first look at a call: whether no text of it holds anything, by the packs' table.
#ifndef TIPSTAFF_GATE_WATCH_HPP
#define TIPSTAFF_GATE_WATCH_HPP

#include <cstddef>
#include <cstring>
#include <string_view>

#include "tipstaff/dispatch.hpp"
#include "tipstaff/secrets/scanner.hpp"

namespace tipstaff::gate {

inline bool names_directory(std::string_view name) noexcept {
  return name == "cwd" || name == "workdir" || name == "working_directory" || name == "dir_path";
}
inline bool is_former_field(std::string_view name) noexcept {
  return name == "old_string" || name == "old_str" || name == "oldstring";
}

class SecretWatch {
 public:
  // The bytes must outlive it.
  bool open(const unsigned char* data, std::size_t size, LiteralFinder finder) noexcept {
    finder_ = finder;
    return secrets::Table::open(data, size, &table_) == secrets::Fault::none;
  }
  bool is_clean(std::string_view text) const noexcept {
    secrets::Finding one[1];
    return text.size() < kShortest ||
           secrets::scan(table_, reinterpret_cast<const secrets::Byte*>(text.data()), text.size(), finder_, true, one, 1) == 0;
  }
  // A short text may be a secret by its field's name alone: `"name": "text"`, as the gate in Python writes it.
  bool is_clean_pair(std::string_view name, std::string_view text) const noexcept {
    if (name.empty() || text.empty() || text.size() > kPair || is_plain_name(name)) return true;
    if (name.size() > kName) return false;
    char pair[kName + 2 * kPair + 8];
    std::size_t n = 0;
    pair[n++] = '"';
    std::memcpy(pair + n, name.data(), name.size());
    n += name.size();
    std::memcpy(pair + n, "\": \"", 4);
    n += 4;
    for (const char c : text) {
      if (c == '"' || c == '\\') pair[n++] = '\\', pair[n++] = c;
      else if (c == '\n') pair[n++] = '\\', pair[n++] = 'n';
      else if (c == '\t') pair[n++] = '\\', pair[n++] = 't';
      else if (c == '\r') pair[n++] = '\\', pair[n++] = 'r';
      else if (static_cast<unsigned char>(c) < ' ') return false;
      else pair[n++] = c;
    }
    pair[n++] = '"';
    return is_clean({pair, n});
  }

 private:
  // Names of parameters that call nothing a secret.
  static bool is_plain_name(std::string_view name) noexcept {
    for (const std::string_view plain : {"command", "description", "file_path", "path", "content", "new_string", "pattern", "workdir", "cwd", "query",
                                         "url", "prompt", "glob", "output_mode", "file_text", "title", "body", "text", "type"})
      if (name == plain) return true;
    return false;
  }
  static constexpr std::size_t kShortest = 3, kPair = 512, kName = 128;
  secrets::Table table_;
  LiteralFinder finder_{};
};

}  // namespace tipstaff::gate

#endif
