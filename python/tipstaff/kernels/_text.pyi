# The signatures are those of the twins, which tests hold the compiled module to.
from tipstaff.kernels.plain.text import alike_texts as alike_texts
from tipstaff.kernels.plain.text import join_pieces as join_pieces
from tipstaff.kernels.plain.text import opposed_texts as opposed_texts
from tipstaff.kernels.plain.text import read_words as read_words
from tipstaff.kernels.plain.text import word_values as word_values
