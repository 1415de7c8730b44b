from tipstaff.undo.config import UndoConfig as UndoConfig
from tipstaff.undo.keeps import KeptCall as KeptCall
from tipstaff.undo.keeps import kept as kept
from tipstaff.undo.restoring import NotRestored as NotRestored
from tipstaff.undo.restoring import UndoReport as UndoReport
from tipstaff.undo.restoring import undo as undo
from tipstaff.undo.retention import forget as forget
from tipstaff.undo.retention import tidy as tidy
