// The names of a text's pieces, for a person to read.
#ifndef TIPSTAFF_WORDPIECE_NAMES_HPP
#define TIPSTAFF_WORDPIECE_NAMES_HPP

#include <vector>

#include "tipstaff/tokens/wordpiece.hpp"

namespace tipstaff {

// Spans are in the table's bytes.
inline void split_names(const WordPieces& table, ByteView text, std::vector<ByteView>* names) {
  struct Numbers {
    void piece(std::int64_t number) noexcept {
      if (used < room) found[used] = number;
      ++used;
    }
    void gram(std::uint64_t) noexcept {}
    std::int64_t* found;
    std::int64_t room;
    std::int64_t used;
  };
  // A byte gives at most two letters, and a letter at most one piece.
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(2 * text.size + 1));
  Numbers sink{numbers.data(), static_cast<std::int64_t>(numbers.size()), 0};
  WordPieceSplitter<Numbers>(table, sink).split(text);
  names->reserve(static_cast<std::size_t>(sink.used));
  for (std::int64_t i = 0; i < sink.used; ++i) {
    const std::int64_t number = numbers[static_cast<std::size_t>(i)];
    const std::int64_t start = load_field<std::uint32_t>(table.starts + 4 * number);
    const std::int64_t end = load_field<std::uint32_t>(table.starts + 4 * number + 4);
    if (start <= end && end <= table.names_size) names->push_back({table.names + start, end - start});
  }
}

}  // namespace tipstaff

#endif
