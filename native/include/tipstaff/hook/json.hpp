// Reads one JSON document in place: strings are unescaped where they are, nothing is allocated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>

#include "tipstaff/gate/tree/ascii.hpp"
#include "tipstaff/text/utf8.hpp"

namespace tipstaff::hook {

enum class JsonKind : std::uint8_t { null, boolean, number, string, array, object };

constexpr std::uint32_t kNoNode = 0xffffffffu;

struct JsonNode {
  JsonKind kind = JsonKind::null;
  std::uint32_t next = kNoNode;   // sibling
  std::uint32_t child = kNoNode;  // first member or element
  std::string_view key;           // of a member
  std::string_view text;          // a string's characters, else the words of a number, boolean or null
};

// A document over a buffer that it owns for writing. Depth and number of values are bounded; what is beyond is an
// error, as is anything that RFC 8259 does not allow (a lone surrogate becomes U+FFFD, since hosts write them).
class Json {
 public:
  static constexpr std::uint32_t kDepth = 64;

  Json(JsonNode* nodes, std::uint32_t capacity) noexcept : nodes_(nodes), capacity_(capacity) {}

  // Returns whether `text` is one document. Where it is not, error_at() is the byte where reading stopped.
  bool parse(char* text, std::size_t bytes) noexcept {
    begin_ = at_ = text;
    end_ = text + bytes;
    count_ = 0;
    if (bytes >= 3 && std::memcmp(text, "\xef\xbb\xbf", 3) == 0) at_ += 3;
    std::uint32_t root = kNoNode;
    if (!value(&root, 0)) return false;
    blank();
    return at_ == end_;
  }

  // Parses a further document (a string that holds JSON) beside the first; returns its root or kNoNode.
  std::uint32_t parse_more(std::string_view text) noexcept {
    const std::uint32_t before = count_;
    begin_ = at_ = const_cast<char*>(text.data());
    end_ = begin_ + text.size();
    std::uint32_t root = kNoNode;
    if (!value(&root, 0)) {
      count_ = before;
      return kNoNode;
    }
    blank();
    if (at_ == end_) return root;
    count_ = before;
    return kNoNode;
  }

  std::size_t error_at() const noexcept { return static_cast<std::size_t>(at_ - begin_); }
  const JsonNode& operator[](std::uint32_t index) const noexcept { return nodes_[index]; }
  JsonNode& operator[](std::uint32_t index) noexcept { return nodes_[index]; }
  std::uint32_t count() const noexcept { return count_; }

  // Returns the last member of that name (as the hosts' own readers do), kNoNode where there is none.
  std::uint32_t find(std::uint32_t object, std::string_view key) const noexcept {
    std::uint32_t found = kNoNode;
    if (object == kNoNode || nodes_[object].kind != JsonKind::object) return found;
    for (std::uint32_t i = nodes_[object].child; i != kNoNode; i = nodes_[i].next)
      if (nodes_[i].key == key) found = i;
    return found;
  }
  std::string_view text(std::uint32_t object, std::string_view key) const noexcept {
    const std::uint32_t found = find(object, key);
    return found != kNoNode && nodes_[found].kind == JsonKind::string ? nodes_[found].text : std::string_view{};
  }

 private:
  void blank() noexcept {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) ++at_;
  }

  bool value(std::uint32_t* out, std::uint32_t depth) noexcept {
    blank();
    if (at_ == end_ || depth > kDepth || count_ >= capacity_) return false;
    const std::uint32_t index = count_++;
    new (&nodes_[index]) JsonNode{};
    *out = index;
    switch (*at_) {
      case '{': return members(index, depth, true);
      case '[': return members(index, depth, false);
      case '"':
        nodes_[index].kind = JsonKind::string;
        return string(&nodes_[index].text);
      case 't': return word(index, "true", JsonKind::boolean);
      case 'f': return word(index, "false", JsonKind::boolean);
      case 'n': return word(index, "null", JsonKind::null);
      default: return number(index);
    }
  }

  bool members(std::uint32_t index, std::uint32_t depth, bool object) noexcept {
    const char close = object ? '}' : ']';
    nodes_[index].kind = object ? JsonKind::object : JsonKind::array;
    ++at_;
    blank();
    if (at_ != end_ && *at_ == close) {
      ++at_;
      return true;
    }
    std::uint32_t last = kNoNode;
    for (;;) {
      std::string_view key;
      blank();
      if (object) {
        if (at_ == end_ || *at_ != '"' || !string(&key)) return false;
        blank();
        if (at_ == end_ || *at_ != ':') return false;
        ++at_;
      }
      std::uint32_t member = kNoNode;
      if (!value(&member, depth + 1)) return false;
      nodes_[member].key = key;
      if (last == kNoNode) {
        nodes_[index].child = member;
      } else {
        nodes_[last].next = member;
      }
      last = member;
      blank();
      if (at_ == end_) return false;
      if (*at_ == close) {
        ++at_;
        return true;
      }
      if (*at_ != ',') return false;
      ++at_;
    }
  }

  bool word(std::uint32_t index, std::string_view name, JsonKind kind) noexcept {
    if (static_cast<std::size_t>(end_ - at_) < name.size() || std::memcmp(at_, name.data(), name.size()) != 0) return false;
    nodes_[index].kind = kind;
    nodes_[index].text = {at_, name.size()};
    at_ += name.size();
    return true;
  }

  bool digits() noexcept {
    const char* const start = at_;
    while (at_ != end_ && *at_ >= '0' && *at_ <= '9') ++at_;
    return at_ != start;
  }

  bool number(std::uint32_t index) noexcept {
    char* const start = at_;
    if (at_ != end_ && *at_ == '-') ++at_;
    const char* const whole = at_;
    if (!digits() || (*whole == '0' && at_ - whole > 1)) return false;
    if (at_ != end_ && *at_ == '.') {
      ++at_;
      if (!digits()) return false;
    }
    if (at_ != end_ && (*at_ == 'e' || *at_ == 'E')) {
      ++at_;
      if (at_ != end_ && (*at_ == '+' || *at_ == '-')) ++at_;
      if (!digits()) return false;
    }
    nodes_[index].kind = JsonKind::number;
    nodes_[index].text = {start, static_cast<std::size_t>(at_ - start)};
    return true;
  }

  bool unit(std::uint32_t* out) noexcept {
    if (end_ - at_ < 4) return false;
    std::uint32_t code = 0;
    for (int i = 0; i < 4; ++i) {
      const int digit = gate::ascii::hex_value(at_[i]);
      if (digit < 0) return false;
      code = code << 4 | static_cast<std::uint32_t>(digit);
    }
    at_ += 4;
    *out = code;
    return true;
  }

  bool string(std::string_view* out) noexcept {
    char* const start = ++at_;
    while (at_ != end_ && *at_ != '"' && *at_ != '\\' && static_cast<unsigned char>(*at_) >= 0x20) ++at_;
    char* write = at_;
    while (at_ != end_ && *at_ != '"') {
      if (static_cast<unsigned char>(*at_) < 0x20) return false;
      if (*at_ != '\\') {
        *write++ = *at_++;
        continue;
      }
      if (++at_ == end_) return false;
      const char escape = *at_++;
      switch (escape) {
        case '"':
        case '\\':
        case '/': *write++ = escape; break;
        case 'b': *write++ = '\b'; break;
        case 'f': *write++ = '\f'; break;
        case 'n': *write++ = '\n'; break;
        case 'r': *write++ = '\r'; break;
        case 't': *write++ = '\t'; break;
        case 'u': {
          std::uint32_t code = 0;
          if (!unit(&code)) return false;
          if (code >= 0xd800 && code < 0xdc00) {
            std::uint32_t low = 0;
            char* const before = at_;
            if (end_ - at_ >= 6 && at_[0] == '\\' && at_[1] == 'u') {
              at_ += 2;
              if (!unit(&low)) return false;
            }
            if (low >= 0xdc00 && low < 0xe000) {
              code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
            } else {
              at_ = before;
              code = 0xfffd;
            }
          } else if (code >= 0xdc00 && code < 0xe000) {
            code = 0xfffd;
          }
          write += write_utf8(code, write);
          break;
        }
        default: return false;
      }
    }
    if (at_ == end_) return false;
    ++at_;
    *out = {start, static_cast<std::size_t>(write - start)};
    return true;
  }

  JsonNode* nodes_;
  std::uint32_t capacity_;
  std::uint32_t count_ = 0;
  char* begin_ = nullptr;
  char* at_ = nullptr;
  char* end_ = nullptr;
};

// Text that is built in a fixed buffer; what does not fit is left out, and full() says so.
class Writer {
 public:
  Writer(char* out, std::size_t capacity) noexcept : out_(out), capacity_(capacity) {}

  Writer& raw(std::string_view text) noexcept {
    if (text.size() > capacity_ - size_) {
      full_ = true;
      return *this;
    }
    if (!text.empty()) std::memcpy(out_ + size_, text.data(), text.size());
    size_ += text.size();
    return *this;
  }

  // Takes further bytes, to be written by whoever asks for them.
  bool grow(std::size_t bytes) noexcept {
    if (full_ || bytes > capacity_ - size_) full_ = true;
    else size_ += bytes;
    return !full_;
  }
  char* data() noexcept { return out_; }

  Writer& number(std::uint64_t value) noexcept {
    char digits[20];
    std::size_t at = sizeof digits;
    do {
      digits[--at] = static_cast<char>('0' + value % 10);
      value /= 10;
    } while (value != 0);
    return raw({digits + at, sizeof digits - at});
  }

  Writer& hex(std::uint64_t value) noexcept {
    char digits[16];
    for (int i = 15; i >= 0; --i, value >>= 4) digits[i] = "0123456789abcdef"[value & 15];
    return raw({digits, 16});
  }

  // A JSON string. Bytes that are no UTF-8 become U+FFFD, so that what is written can always be read.
  Writer& string(std::string_view text) noexcept {
    raw("\"");
    escaped(text);
    return raw("\"");
  }

  Writer& escaped(std::string_view text) noexcept {
    std::size_t from = 0, at = 0;
    while (at < text.size()) {
      const unsigned char byte = static_cast<unsigned char>(text[at]);
      const std::size_t length = byte < 0x80 ? 1 : sequence(text, at);
      if (byte >= 0x20 && byte != '"' && byte != '\\' && byte != 0x7f && length != 0) {
        at += length;
        continue;
      }
      raw(text.substr(from, at - from));
      if (length == 0) {
        raw("\xef\xbf\xbd");
      } else if (byte == '"' || byte == '\\') {
        const char pair[2] = {'\\', static_cast<char>(byte)};
        raw({pair, 2});
      } else if (byte == '\n') {
        raw("\\n");
      } else if (byte == '\t') {
        raw("\\t");
      } else if (byte == '\r') {
        raw("\\r");
      } else {
        const char code[6] = {'\\', 'u', '0', '0', "0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15]};
        raw({code, 6});
      }
      from = ++at;
    }
    return raw(text.substr(from));
  }

  std::string_view view() const noexcept { return {out_, size_}; }
  std::size_t size() const noexcept { return size_; }
  bool full() const noexcept { return full_; }
  void clear() noexcept {
    size_ = 0;
    full_ = false;
  }
  void truncate(std::size_t size) noexcept {
    if (size < size_) size_ = size;
    full_ = false;
  }

  // Returns the length of the UTF-8 sequence at a position, 0 where no well-formed one begins.
  static std::size_t sequence(std::string_view text, std::size_t at) noexcept {
    const auto byte = [&](std::size_t i) noexcept { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(at);
    const std::size_t length = first < 0x80 ? 1 : first >= 0xc2 && first < 0xe0 ? 2 : first >= 0xe0 && first < 0xf0 ? 3
                               : first >= 0xf0 && first < 0xf5 ? 4 : 0;
    if (length == 0 || length > text.size() - at) return 0;
    for (std::size_t i = 1; i < length; ++i)
      if ((byte(at + i) & 0xc0) != 0x80) return 0;
    if (length == 3 && ((first == 0xe0 && byte(at + 1) < 0xa0) || (first == 0xed && byte(at + 1) >= 0xa0))) return 0;
    if (length == 4 && ((first == 0xf0 && byte(at + 1) < 0x90) || (first == 0xf4 && byte(at + 1) >= 0x90))) return 0;
    return length;
  }

 private:
  char* out_;
  std::size_t capacity_;
  std::size_t size_ = 0;
  bool full_ = false;
};

// Writes a value as it was read, strings escaped again.
inline void write_json(const Json& json, std::uint32_t index, Writer& out) noexcept {
  const JsonNode& node = json[index];
  switch (node.kind) {
    case JsonKind::string: out.string(node.text); return;
    case JsonKind::array:
    case JsonKind::object: {
      const bool object = node.kind == JsonKind::object;
      out.raw(object ? "{" : "[");
      for (std::uint32_t i = node.child; i != kNoNode; i = json[i].next) {
        if (i != node.child) out.raw(",");
        if (object) out.string(json[i].key).raw(":");
        write_json(json, i, out);
      }
      out.raw(object ? "}" : "]");
      return;
    }
    default: out.raw(node.text); return;
  }
}

}  // namespace tipstaff::hook
