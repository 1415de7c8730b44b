// Opening images: whatever the bytes are, nothing outside them is read.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "tipstaff/gate/rules/image.hpp"
#include "tipstaff/gate/rules/open_image.hpp"

using namespace tipstaff::gate;

namespace {
int failures = 0;
void check(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "image: %s\n", what);
  ++failures;
}

constexpr std::size_t kHeader = 32 + kSectionCount * 8;

// An image with nothing in it but a configuration.
std::vector<std::uint64_t> empty_image(std::size_t* bytes) {
  *bytes = kHeader + sizeof(record::Config);
  std::vector<std::uint64_t> memory((*bytes + 7) / 8);
  auto* data = reinterpret_cast<unsigned char*>(memory.data());
  const std::uint32_t numbers[] = {kImageVersion, static_cast<std::uint32_t>(*bytes)};
  const std::uint32_t count = kSectionCount;
  std::memcpy(data, kImageMagic, 8);
  std::memcpy(data + 8, numbers, 8);
  std::memcpy(data + 24, &count, 4);
  for (std::uint32_t i = 0; i < kSectionCount; ++i) {
    const bool config = i == static_cast<std::uint32_t>(SectionKind::config);
    const std::uint32_t section[] = {static_cast<std::uint32_t>(kHeader), config ? static_cast<std::uint32_t>(sizeof(record::Config)) : 0u};
    std::memcpy(data + 32 + 8 * i, section, 8);
  }
  return memory;
}
void seal(std::vector<std::uint64_t>* memory, std::size_t bytes) {
  auto* data = reinterpret_cast<unsigned char*>(memory->data());
  const std::uint64_t sum = image_checksum(data + 24, bytes - 24);
  std::memcpy(data + 16, &sum, 8);
}
}  // namespace

int main() {
  Image image;
  std::size_t bytes = 0;
  std::vector<std::uint64_t> memory = empty_image(&bytes);
  const auto open = [&]() { return open_image(reinterpret_cast<const unsigned char*>(memory.data()), bytes, &image); };
  check(open() == ImageFault::checksum, "an unsealed image is refused");
  seal(&memory, bytes);
  check(open() == ImageFault::none, "an empty image opens");
  check(image.find("git") == nullptr, "and knows no program");
  check(open_image(nullptr, 0, &image) == ImageFault::too_short, "nothing is no image");
  check(open_image(reinterpret_cast<const unsigned char*>(memory.data()), bytes - 4, &image) == ImageFault::length, "a cut one is refused");

  // Each number of the header and the section table, replaced by unfit ones.
  for (std::size_t at = 8; at + 4 <= kHeader; at += 4) {
    if (at >= 16 && at < 24) continue;
    for (std::uint32_t value : {1u, 3u, 0x7fffffffu, 0xfffffffcu, 0xffffffffu}) {
      std::vector<std::uint64_t> kept = memory;
      std::memcpy(reinterpret_cast<unsigned char*>(memory.data()) + at, &value, 4);
      seal(&memory, bytes);
      (void)open();  // sanitizers watch
      memory = kept;
    }
  }
  check(hash_name("Git") == hash_name("git"), "names hash without letter case");
  return failures == 0 ? 0 : 1;
}
