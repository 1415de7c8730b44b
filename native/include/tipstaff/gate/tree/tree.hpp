// What a tool call would run: commands, found in text and in the code that text carries.
//
// Readers (one for each dialect) turn text into a Tree; rules look at its commands and
// never at raw text, so that a word in a commit message is never taken for an instruction.
//
// All storage is one block that the caller owns; nothing is allocated while reading. Where a limit is
// reached the tree says so (Unresolved::limit): it never ends in silence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>

#include "tipstaff/gate/tree/command.hpp"
#include "tipstaff/gate/tree/unresolved.hpp"

namespace tipstaff::gate {

enum class NodeKind : std::uint8_t {
  root,
  pipeline,
  list,
  group,
  subshell,
  substitution,
  loop,
  branch,
  function,
  command,
  assignment,
  redirection,
  here_document,
  code,  // nested code of some dialect
  data,  // text that nothing runs
};

// The tree as `gate --explain` draws it, in pre-order of first children and next siblings.
struct Node {
  NodeKind kind = NodeKind::root;
  Dialect dialect = Dialect::shell;
  bool is_code = true;
  Span span;
  std::uint32_t parent = kNone;
  std::uint32_t first_child = kNone;
  std::uint32_t last_child = kNone;
  std::uint32_t next = kNone;
  std::uint32_t command = kNone;
};

// Memory for the tree of a text of so many bytes. A command takes two bytes at least and 288 of a tree, so that the small block
// holds every text that gets it, and none is asked about for being shorter than what gets the large one: that holds all
// texts of up to 233 KB, and many commands of most that are longer. Pages of it that nothing is written to cost nothing.
namespace tree_bytes {
// Three quarters are for readers, who keep there what they know of a text while they read it.
constexpr std::size_t kTree = std::size_t{1} << 20, kSmall = 4 * kTree, kLarge = 64 * kSmall;
constexpr std::size_t kSmallText = kTree / 288;
constexpr std::size_t for_text(std::size_t text_bytes) noexcept { return text_bytes < kSmallText ? kSmall : kLarge; }
}  // namespace tree_bytes

// The commands of one text, in one block of memory.
class Tree {
 public:
  // `memory` is cut into fixed parts; of 4 MiB, 4,096 words, 1,820 commands, 4,096 nodes and 480 KiB of text.
  Tree(void* memory, std::size_t bytes) noexcept {
    auto* at = static_cast<unsigned char*>(memory);
    spare_bytes_ = bytes / 64 * 48;
    bytes -= spare_bytes_;
    spare_ = at + bytes;
    const std::size_t share = bytes / 8;
    words_ = cut<Word>(&at, share, &word_capacity_);
    commands_ = cut<Command>(&at, 2 * share, &command_capacity_);
    nodes_ = cut<Node>(&at, share, &node_capacity_);
    uncertain_ = cut<Uncertainty>(&at, share / 4, &uncertain_capacity_);
    text_ = reinterpret_cast<char*>(at);
    text_capacity_ = static_cast<std::size_t>(static_cast<unsigned char*>(memory) + bytes - at);
  }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  void clear() noexcept {
    word_count_ = pending_count_ = command_count_ = node_count_ = uncertain_count_ = 0;
    text_size_ = 0;
    full_ = false;
  }

  const Word* words() const noexcept { return words_; }
  const Word* arguments(const Command& command) const noexcept { return words_ + command.first_word; }
  Word& word(std::uint32_t index) noexcept { return words_[index]; }
  std::uint32_t word_count() const noexcept { return word_count_; }
  std::uint32_t word_capacity() const noexcept { return word_capacity_; }
  const Command* commands() const noexcept { return commands_; }
  Command& command(std::uint32_t index) noexcept { return commands_[index]; }
  const Command& command(std::uint32_t index) const noexcept { return commands_[index]; }
  std::uint32_t command_count() const noexcept { return command_count_; }
  const Node* nodes() const noexcept { return nodes_; }
  Node& node(std::uint32_t index) noexcept { return nodes_[index]; }
  std::uint32_t node_count() const noexcept { return node_count_; }
  const Uncertainty* uncertainties() const noexcept { return uncertain_; }
  std::uint32_t uncertainty_count() const noexcept { return uncertain_count_; }
  bool full() const noexcept { return full_; }
  // Memory that readers share while a text is read; what they leave in it stays until the next one.
  void* spare() const noexcept { return spare_; }
  std::size_t spare_bytes() const noexcept { return spare_bytes_; }

  // Each returns the new one's index, kNone where there is no room (and the tree is then full()).
  std::uint32_t add_word(const Word& word) noexcept {
    return add(words_, &word_count_, word_capacity_ - pending_count_, word);
  }
  // Room for words that a reader writes itself: as many as free_words() tells, then taken at once.
  std::uint32_t free_words() const noexcept { return word_capacity_ - pending_count_ - word_count_; }
  void* next_word() noexcept { return words_ + word_count_; }
  void take_words(std::uint32_t count) noexcept { word_count_ += count; }
  std::uint32_t add_command(const Command& command) noexcept {
    return add(commands_, &command_count_, command_capacity_, command);
  }
  // New ones where they are to stay, to be filled in there; null where there is no room.
  Command* new_command() noexcept { return place(commands_, &command_count_, command_capacity_); }
  Node* new_node(std::uint32_t parent_index) noexcept {
    Node* const node = place(nodes_, &node_count_, node_capacity_);
    if (node == nullptr || parent_index == kNone) return node;
    const std::uint32_t index = node_count_ - 1;
    Node& parent = nodes_[parent_index];
    if (parent.last_child == kNone) {
      parent.first_child = index;
    } else {
      nodes_[parent.last_child].next = index;
    }
    parent.last_child = index;
    node->parent = parent_index;
    return node;
  }
  std::uint32_t add_node(const Node& given) noexcept {
    Node* const node = new_node(given.parent);
    if (node == nullptr) return kNone;
    node->kind = given.kind;
    node->dialect = given.dialect;
    node->is_code = given.is_code;
    node->span = given.span;
    node->command = given.command;
    return node_count_ - 1;
  }
  void add_uncertainty(Unresolved reason, Span span, std::uint32_t command = kNone) noexcept {
    if (uncertain_count_ < uncertain_capacity_) {
      new (&uncertain_[uncertain_count_++]) Uncertainty{reason, span, command};
    } else {
      full_ = true;
    }
  }

  // Takes away those that `is_it` is true of.
  template <class Is>
  void forget_uncertainties(Is is_it) noexcept {
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < uncertain_count_; ++i)
      if (!is_it(uncertain_[i])) uncertain_[kept++] = uncertain_[i];
    uncertain_count_ = kept;
  }

  // The body of a function, whose first commands and uncertainties are these, runs only where it is called.
  void mark_definition(std::uint32_t first_command, std::uint32_t last_command, std::uint32_t first_open, std::uint32_t last_open) noexcept {
    for (std::uint32_t i = first_command; i < last_command; ++i) command(i).via |= via::kDefinition;
    for (std::uint32_t i = first_open; i < last_open; ++i) uncertain_[i].settled = true;
  }

  // Words that belong to no command yet: a stack at the far end of the words' memory, since the words of one
  // command lie together and reading one of them may find whole commands inside it.
  std::uint32_t pending() const noexcept { return pending_count_; }
  Word& pending_word(std::uint32_t index) noexcept { return words_[word_capacity_ - 1 - index]; }
  void push_pending(const Word& word) noexcept {
    if (word_count_ + pending_count_ >= word_capacity_) {
      full_ = true;
      return;
    }
    new (&words_[word_capacity_ - 1 - pending_count_++]) Word(word);
  }
  void drop_pending(std::uint32_t mark) noexcept { pending_count_ = mark; }
  // Makes words of the pending ones from `mark` on; returns the first one's index.
  std::uint32_t take_pending(std::uint32_t mark) noexcept {
    const std::uint32_t count = pending_count_ - mark;
    const std::uint32_t first = word_count_;
    if (count > word_capacity_ - pending_count_ - word_count_) {
      full_ = true;
      pending_count_ = mark;
      return kNone;
    }
    for (std::uint32_t i = 0; i < count; ++i) new (&words_[word_count_++]) Word(pending_word(mark + i));
    pending_count_ = mark;
    return first;
  }

  // Room for text that is built piece by piece: write at most `room` bytes at the returned place, then keep() them.
  char* draft(std::size_t* room) noexcept {
    *room = text_capacity_ - text_size_;
    return text_ + text_size_;
  }
  std::string_view keep(std::size_t bytes) noexcept {
    std::string_view kept(text_ + text_size_, bytes);
    text_size_ += bytes;
    return kept;
  }
  std::string_view copy(std::string_view text) noexcept {
    if (text.size() > text_capacity_ - text_size_) {
      full_ = true;
      return {};
    }
    if (!text.empty()) std::memcpy(text_ + text_size_, text.data(), text.size());
    return keep(text.size());
  }
  // `head` and `tail` as one text; a head that was the last one built grows where it is.
  std::string_view join(std::string_view head, std::string_view tail) noexcept {
    if (tail.empty()) return head;
    if (head.empty()) return tail;
    if (head.data() + head.size() != text_ + text_size_) head = copy(head);
    if (head.empty() || copy(tail).empty()) return head;
    return {head.data(), head.size() + tail.size()};
  }
  void set_full() noexcept { full_ = true; }

 private:
  template <typename T>
  static T* cut(unsigned char** at, std::size_t bytes, std::uint32_t* capacity) noexcept {
    const std::size_t off = reinterpret_cast<std::uintptr_t>(*at) % alignof(T);
    if (off != 0) *at += alignof(T) - off;
    T* begin = reinterpret_cast<T*>(*at);
    *capacity = static_cast<std::uint32_t>(bytes / sizeof(T));
    *at += *capacity * sizeof(T);
    return begin;
  }
  template <typename T>
  T* place(T* items, std::uint32_t* count, std::uint32_t capacity) noexcept {
    if (*count >= capacity) {
      full_ = true;
      return nullptr;
    }
    return new (&items[(*count)++]) T;
  }
  template <typename T>
  std::uint32_t add(T* items, std::uint32_t* count, std::uint32_t capacity, const T& item) noexcept {
    if (*count >= capacity) {
      full_ = true;
      return kNone;
    }
    new (&items[*count]) T(item);
    return (*count)++;
  }

  Word* words_ = nullptr;
  Command* commands_ = nullptr;
  Node* nodes_ = nullptr;
  Uncertainty* uncertain_ = nullptr;
  char* text_ = nullptr;
  void* spare_ = nullptr;
  std::size_t text_capacity_ = 0, text_size_ = 0, spare_bytes_ = 0;
  std::uint32_t word_capacity_ = 0, command_capacity_ = 0, node_capacity_ = 0, uncertain_capacity_ = 0;
  std::uint32_t pending_count_ = 0;
  std::uint32_t word_count_ = 0, command_count_ = 0, node_count_ = 0, uncertain_count_ = 0;
  bool full_ = false;
};

}  // namespace tipstaff::gate
