// Columns of tool calls, as Arrow holds them: a tool's name, and its parameters as JSON.
#ifndef TIPSTAFF_CALL_COLUMNS_HPP
#define TIPSTAFF_CALL_COLUMNS_HPP

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "gates/calls.hpp"
#include "gates/watch.hpp"
#include "tipstaff/hook/json.hpp"

namespace tipstaff::gate {

inline bool names_directory(std::string_view name) noexcept {
  return name == "cwd" || name == "workdir" || name == "working_directory" || name == "dir_path";
}
inline bool is_former_field(std::string_view name) noexcept {
  return name == "old_string" || name == "old_str" || name == "oldstring";
}

constexpr unsigned char kCloserLook = 255;

// One thread's reader of calls. A call whose JSON is not plain, that names a directory which is not, or that may hold a
// secret takes a closer look by another reader.
class CallReader {
 public:
  CallReader(const Image& image, const Settings& settings, const CallSite& site, const SecretWatch* watch)
      : image_(image), settings_(settings), site_(site), watch_(watch), room_(own_room()) {}

  // The worst decision, or kCloserLook.
  unsigned char decide(std::string_view tool, std::string_view params) {
    if (tool.empty() || params.find("\\u") != std::string_view::npos) return kCloserLook;  // surrogates, which may be lone
    text_.assign(params.begin(), params.end());
    nodes_.resize(params.size() / 2 + 2);  // a value and what divides it from the next take two bytes
    hook::Json json(nodes_.data(), static_cast<std::uint32_t>(nodes_.size()));
    fields_.clear();
    where_ = site_;
    if (!json.parse(text_.data(), text_.size()) || json[0].kind != hook::JsonKind::object) return kCloserLook;
    if (!take(json, 0, {}, kNothing, 0)) return kCloserLook;
    Call call;
    call.tool = tool;
    call.field_count = static_cast<std::uint32_t>(fields_.size());
    call.site = &where_;
    judge(image_, settings_, call, fields_.data(), room_, nullptr, &verdict_);
    return static_cast<unsigned char>(verdict_.decision);
  }

 private:
  static constexpr std::uint32_t kMembers = 32, kDepth = 16;

  // Every text below a value under the innermost name above it; whether all of it is plain and clean.
  bool take(const hook::Json& json, std::uint32_t index, std::string_view name, std::uint32_t element, std::uint32_t depth) {
    const hook::JsonNode& node = json[index];
    if (node.kind == hook::JsonKind::string) {
      fields_.push_back(Field{name, node.text, element});
      return is_clean(name, node.text);
    }
    if (node.kind != hook::JsonKind::object && node.kind != hook::JsonKind::array) return true;
    if (depth == kDepth) return false;
    std::uint32_t number = 0;
    for (std::uint32_t i = node.child; i != hook::kNoNode; i = json[i].next, ++number) {
      if (node.kind == hook::JsonKind::array) {
        if (!take(json, i, name, number, depth + 1)) return false;
        continue;
      }
      const std::string_view key = json[i].key;
      if (number == kMembers || !is_plain(key)) return false;
      for (std::uint32_t j = node.child; j != i; j = json[j].next)
        if (json[j].key == key) return false;  // readers differ in which one counts
      if (watch_ != nullptr && key.size() >= 8 && !watch_->is_clean(key)) return false;
      if (depth == 0 && names_directory(key) && !goes_to(json[i])) return false;
      if (!take(json, i, key, kNothing, depth + 1)) return false;
    }
    return true;
  }

  bool is_clean(std::string_view name, std::string_view text) const noexcept {
    if (watch_ == nullptr || is_former_field(name)) return true;
    return watch_->is_clean(text) && watch_->is_clean_pair(name, text);
  }

  // Lower case and no escapes, as most names are.
  static bool is_plain(std::string_view key) noexcept {
    for (const char c : key)
      if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_')) return false;
    return !key.empty();
  }

  // An absolute path without dots, where no file is looked at, is its own repository.
  bool goes_to(const hook::JsonNode& folder) noexcept {
    const std::string_view path = folder.text;
    if (folder.kind != hook::JsonKind::string || path.empty()) return folder.kind == hook::JsonKind::null;
    const bool is_normal = path[0] == '/' && path.size() > 1 && path.back() != '/' &&
                           path.find("//") == std::string_view::npos && path.find("/.") == std::string_view::npos;
    if (site_.files || !is_normal || where_.cwd != site_.cwd) return false;
    where_.cwd = where_.repository = path;
    return true;
  }

  const Image& image_;
  const Settings& settings_;
  const CallSite& site_;
  const SecretWatch* watch_;
  Room& room_;
  CallSite where_;
  Verdict verdict_;
  std::vector<char> text_;
  std::vector<hook::JsonNode> nodes_;
  std::vector<Field> fields_;
};

inline void decide_calls(const Image& image, const Settings& settings, const std::vector<std::string_view>& tools,
                         const std::vector<std::string_view>& params, const CallSite& site, const SecretWatch* watch,
                         std::uint32_t threads, unsigned char* decisions) {
  constexpr std::size_t kShare = 64;
  const std::size_t count = tools.size(), shares = (count + kShare - 1) / kShare;
  std::atomic<std::size_t> next{0};
  const auto work = [&]() {
    CallReader reader(image, settings, site, watch);
    for (;;) {
      const std::size_t share = next.fetch_add(1);
      if (share >= shares) return;
      const std::size_t end = (share + 1) * kShare < count ? (share + 1) * kShare : count;
      for (std::size_t i = share * kShare; i < end; ++i) decisions[i] = reader.decide(tools[i], params[i]);
    }
  };
  run_on_threads(shares < threads ? shares : threads, work);
}

}  // namespace tipstaff::gate

#endif
