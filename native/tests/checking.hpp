// What the native tests share: a check that ends the test with a word, one that counts what is wrong, and blocks of
// exactly their size.
#ifndef TIPSTAFF_TESTS_CHECKING_HPP
#define TIPSTAFF_TESTS_CHECKING_HPP

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tipstaff/text/text.hpp"

namespace tipstaff::test {

inline int checks = 0;

// The number tells which of several failed.
inline void check(bool holds, const char* what, int which = 0) {
  ++checks;
  if (holds) return;
  std::fprintf(stderr, "FAILED: %s (%d)\n", what, which);
  std::exit(1);
}

inline int failures = 0;

// Goes on after a failure, so that one run names them all.
inline void expect(bool holds, const std::string& what) {
  ++checks;
  if (holds) return;
  ++failures;
  std::fprintf(stderr, "wrong: %s\n", what.c_str());
}

// A heap block of exactly the bytes of a string after one byte, so that its address is odd: a read past
// its end traps under the sanitizers.
class Block {
 public:
  explicit Block(const std::string& bytes) : memory_(new unsigned char[bytes.size() + 1]), size_(bytes.size()) {
    if (!bytes.empty()) std::memcpy(memory_ + 1, bytes.data(), bytes.size());
  }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block() { delete[] memory_; }
  ByteView span() const { return {memory_ + 1, static_cast<std::int64_t>(size_)}; }

 private:
  unsigned char* memory_;
  std::size_t size_;
};

}  // namespace tipstaff::test

#endif
