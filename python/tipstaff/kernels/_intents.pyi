# The signatures are those of the twins, which tests hold the compiled module to.
from tipstaff.kernels.plain.intents import TaskReader as TaskReader
from tipstaff.kernels.plain.task_paths import task_paths as task_paths
from tipstaff.kernels.plain.topics import TopicWords as TopicWords
from tipstaff.kernels.plain.topics import stem_hashes as stem_hashes
