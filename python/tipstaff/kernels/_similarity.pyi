# The signatures are those of the twins, which tests hold the compiled module to.
from tipstaff.kernels.plain.scoring import jaccard_pairs as jaccard_pairs
from tipstaff.kernels.plain.similarity import WordSets as WordSets
