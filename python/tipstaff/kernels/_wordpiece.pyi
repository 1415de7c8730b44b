# The signatures are those of the twins, which tests hold the compiled module to.
from tipstaff.kernels.plain.scoring import available_isas as available_isas
from tipstaff.kernels.plain.scoring import isa as isa
from tipstaff.kernels.plain.wordpiece import blend_rows as blend_rows
from tipstaff.kernels.plain.wordpiece import wordpiece_embed as wordpiece_embed
from tipstaff.kernels.plain.wordpiece import wordpiece_embed_batch as wordpiece_embed_batch
from tipstaff.kernels.plain.wordpiece import wordpiece_shape as wordpiece_shape
from tipstaff.kernels.plain.wordpiece import wordpiece_split as wordpiece_split
