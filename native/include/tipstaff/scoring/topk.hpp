// The k best of a stream of scored rows: higher score first, then lower row number.
#ifndef TIPSTAFF_SCORING_TOPK_HPP
#define TIPSTAFF_SCORING_TOPK_HPP

#include <cstdint>
#include <limits>

namespace tipstaff {

// The caller's arrays, k entries.
struct Best {
  std::int64_t k;
  std::int32_t* rows;
  float* scores;
  float* cosines;
};

// A binary heap with the worst kept entry at its root, lying in the caller's output arrays.
// O(log k) per kept entry. `S` only keeps instantiations of different instruction sets apart.
template <class S>
class TopK {
 public:
  // `size` entries of the arrays are already a heap made by this class.
  TopK(std::int64_t k, std::int32_t* rows, float* scores, float* cosines,
       std::int64_t size = 0) noexcept
      : k_(k), size_(size), rows_(rows), scores_(scores), cosines_(cosines) {}

  std::int64_t size() const noexcept { return size_; }

  // A score must be above this, or equal with a lower row number than some kept one, to be kept.
  float threshold() const noexcept {
    return size_ < k_ ? -std::numeric_limits<float>::infinity() : scores_[0];
  }

  void push(std::int32_t row, float score, float cosine) noexcept {
    if (size_ < k_) {
      std::int64_t child = size_++;
      while (child > 0) {
        const std::int64_t parent = (child - 1) / 2;
        if (!worse(row, score, rows_[parent], scores_[parent])) break;
        move(child, parent);
        child = parent;
      }
      place(child, row, score, cosine);
    } else if (k_ > 0 && worse(rows_[0], scores_[0], row, score)) {
      sift_down(0, size_, row, score, cosine);
    }
  }

  // Orders the arrays best first; the heap is spent afterwards.
  std::int64_t finish() noexcept {
    for (std::int64_t last = size_ - 1; last > 0; --last) {
      const std::int32_t row = rows_[last];
      const float score = scores_[last];
      const float cosine = cosines_[last];
      move(last, 0);
      sift_down(0, last, row, score, cosine);
    }
    return size_;
  }

 private:
  static bool worse(std::int32_t row, float score, std::int32_t other_row,
                    float other_score) noexcept {
    return score < other_score || (score == other_score && row > other_row);
  }
  void move(std::int64_t to, std::int64_t from) noexcept {
    place(to, rows_[from], scores_[from], cosines_[from]);
  }
  void place(std::int64_t at, std::int32_t row, float score, float cosine) noexcept {
    rows_[at] = row;
    scores_[at] = score;
    cosines_[at] = cosine;
  }
  void sift_down(std::int64_t hole, std::int64_t size, std::int32_t row, float score,
                 float cosine) noexcept {
    for (;;) {
      std::int64_t child = 2 * hole + 1;
      if (child >= size) break;
      if (child + 1 < size &&
          worse(rows_[child + 1], scores_[child + 1], rows_[child], scores_[child])) {
        ++child;
      }
      if (!worse(rows_[child], scores_[child], row, score)) break;
      move(hole, child);
      hole = child;
    }
    place(hole, row, score, cosine);
  }

  std::int64_t k_;
  std::int64_t size_;
  std::int32_t* rows_;
  float* scores_;
  float* cosines_;
};

}  // namespace tipstaff

#endif
