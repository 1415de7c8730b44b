# The signatures are those of the twins, which tests hold the compiled module to.
from tipstaff.kernels.plain.scoring import available_isas as available_isas
from tipstaff.kernels.plain.scoring import isa as isa
from tipstaff.kernels.plain.tokens import MessageGuard as MessageGuard
from tipstaff.kernels.plain.tokens import token_features as token_features
from tipstaff.kernels.plain.tokens import utf16_units as utf16_units
from tipstaff.kernels.plain.tokens import weigh_tokens as weigh_tokens
