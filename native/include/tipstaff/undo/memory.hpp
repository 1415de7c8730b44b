// Room for what one call is looked at: one mapping that costs nothing until it is used, and goes as a whole.
#pragma once

#include <sys/mman.h>
#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>

namespace tipstaff::undo {

class Arena {
 public:
  explicit Arena(std::size_t bytes = std::size_t{512} << 20) noexcept : capacity_(bytes) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS;
#if defined(MAP_NORESERVE)
    flags |= MAP_NORESERVE;
#endif
    void* memory = MAP_FAILED;
    for (; memory == MAP_FAILED && capacity_ >= (1 << 20); capacity_ /= memory == MAP_FAILED ? 4 : 1)  // less where memory is counted
      memory = ::mmap(nullptr, capacity_, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (memory != MAP_FAILED) memory_ = static_cast<char*>(memory);
  }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena() {
    if (memory_ != nullptr) ::munmap(memory_, capacity_);
  }

  // Zeroed bytes, aligned to 16; null where there is no room, and full() from then on.
  void* take(std::size_t bytes) noexcept {
    const std::size_t at = (used_ + 15) & ~std::size_t{15};
    if (memory_ == nullptr || at > capacity_ || bytes > capacity_ - at) {
      full_ = true;
      return nullptr;
    }
    used_ = at + bytes;
    return memory_ + at;
  }
  template <class T>
  T* take(std::size_t count = 1) noexcept {
    return static_cast<T*>(take(count * sizeof(T)));
  }
  // The texts one after another, ended by a zero; null where there is no room.
  const char* join(std::string_view a, std::string_view b = {}, std::string_view c = {}) noexcept {
    char* const out = static_cast<char*>(take(a.size() + b.size() + c.size() + 1));
    if (out == nullptr) return nullptr;
    if (!a.empty()) std::memcpy(out, a.data(), a.size());
    if (!b.empty()) std::memcpy(out + a.size(), b.data(), b.size());
    if (!c.empty()) std::memcpy(out + a.size() + b.size(), c.data(), c.size());
    out[a.size() + b.size() + c.size()] = 0;
    return out;
  }
  std::string_view copy(std::string_view a, std::string_view b = {}, std::string_view c = {}) noexcept {
    const char* const out = join(a, b, c);
    return out == nullptr ? std::string_view{} : std::string_view(out, a.size() + b.size() + c.size());
  }
  // What follows all that was taken, to be written to and then taken in part.
  char* rest(std::size_t* bytes) noexcept {
    *bytes = memory_ == nullptr ? 0 : capacity_ - used_;
    return memory_ + used_;
  }
  std::size_t mark() const noexcept { return used_; }
  // Gives back all that was taken since; its bytes are not zero any more.
  void release(std::size_t mark) noexcept {
    std::memset(memory_ + mark, 0, used_ - mark);
    used_ = mark;
  }
  bool full() const noexcept { return full_ || memory_ == nullptr; }

 private:
  char* memory_ = nullptr;
  std::size_t capacity_, used_ = 0;
  bool full_ = false;
};

inline std::uint64_t hash_of(std::string_view text) noexcept {
  std::uint64_t sum = 0xcbf29ce484222325u;
  for (const char letter : text) sum = (sum ^ static_cast<unsigned char>(letter)) * 0x100000001b3u;
  return sum ^ sum >> 29;
}

// Values by text, in an arena; the texts and values must outlive it.
template <class Value>
class Table {
 public:
  explicit Table(Arena& arena, std::uint32_t buckets = 1024) noexcept : arena_(arena), buckets_(buckets) {}

  Value* find(std::string_view key) noexcept {
    if (heads_ == nullptr) return nullptr;
    const std::uint64_t hash = hash_of(key);
    for (Node* node = heads_[hash % buckets_]; node != nullptr; node = node->next)
      if (node->hash == hash && node->key == key) return &node->value;
    return nullptr;
  }
  // The value of a text that is not there yet; null where there is no room. `key` must outlive the table.
  Value* add(std::string_view key) noexcept {
    if (heads_ == nullptr && (heads_ = arena_.take<Node*>(buckets_)) == nullptr) return nullptr;
    if (count_ > 2 * buckets_) grow();
    void* const room = arena_.take(sizeof(Node));
    if (room == nullptr) return nullptr;
    Node* const node = new (room) Node{hash_of(key), key, {}, nullptr};
    node->next = heads_[node->hash % buckets_];
    heads_[node->hash % buckets_] = node;
    ++count_;
    return &node->value;
  }

 private:
  struct Node {
    std::uint64_t hash;
    std::string_view key;
    Value value;
    Node* next;
  };
  void grow() noexcept {
    const std::uint32_t more = buckets_ * 8;
    Node** const heads = arena_.take<Node*>(more);
    if (heads == nullptr) return;
    for (std::uint32_t i = 0; i < buckets_; ++i) {
      for (Node* node = heads_[i]; node != nullptr;) {
        Node* const next = node->next;
        node->next = heads[node->hash % more];
        heads[node->hash % more] = node;
        node = next;
      }
    }
    heads_ = heads;
    buckets_ = more;
  }

  Arena& arena_;
  Node** heads_ = nullptr;
  std::uint32_t buckets_, count_ = 0;
};

inline std::uint64_t modified_ns(const struct stat& about) noexcept {
#if defined(__APPLE__)
  const timespec& at = about.st_mtimespec;
#else
  const timespec& at = about.st_mtim;
#endif
  return static_cast<std::uint64_t>(at.tv_sec) * 1000000000u + static_cast<std::uint64_t>(at.tv_nsec);
}

inline std::string_view folder_of(std::string_view path) noexcept {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view{} : path.substr(0, slash == 0 ? 1 : slash);
}
inline std::string_view name_of(std::string_view path) noexcept { return path.substr(path.rfind('/') + 1); }

// Whether a path is a folder or lies below it.
inline bool is_below(std::string_view path, std::string_view folder) noexcept {
  if (folder == "/") return true;
  return path.size() >= folder.size() && path.substr(0, folder.size()) == folder &&
         (path.size() == folder.size() || path[folder.size()] == '/');
}

}  // namespace tipstaff::undo
