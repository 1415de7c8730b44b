from typing import Any, TypeAlias

_Text: TypeAlias = str | bytes
_Finding: TypeAlias = tuple[int, int, int, int, int, int, int, int, int, bool]
_Settings: TypeAlias = tuple[int, int, int, int, int, int, bool]
_Field: TypeAlias = tuple[_Text, _Text, int]
_Node: TypeAlias = tuple[int, int, bool, int, int, int, int]
_Word: TypeAlias = tuple[str, int, int, int, int]
_Command: TypeAlias = tuple[str, list[_Word], int, int, str, int, int, int, int, str | None]
_Uncertainty: TypeAlias = tuple[int, int, int, int]
_Tree: TypeAlias = tuple[list[_Node], list[_Command], list[_Uncertainty]]

def built_in_policy() -> memoryview: ...
def image_checksum(data: Any) -> int: ...
def glob_allows(glob: _Text, tool: _Text) -> bool: ...
def changed_lines(tool: _Text, fields: list[_Field]) -> int: ...
def former_parts(tool: _Text, field: _Text, text: _Text) -> list[tuple[int, int]]: ...

class CallSite:
    def __init__(
        self,
        cwd: _Text = "",
        repository: _Text = "",
        home: _Text = "",
        temporary: _Text = "",
        *,
        files: bool = False,
        state: _Text = "",
        program: _Text = "",
    ) -> None: ...

class Flow:
    def __init__(self, data: bytes | None = None) -> None: ...
    def to_bytes(self) -> bytes: ...
    @property
    def marks(self) -> int: ...
    @property
    def changed_lines(self) -> int: ...

class Policy:
    def __init__(self, data: Any) -> None: ...
    @property
    def rules(self) -> list[tuple[str, str, str, str, int, int, str | None, int]]: ...
    @property
    def config(self) -> tuple[int, int, int, int, int, int]: ...
    @property
    def allowlist(self) -> tuple[str, ...]: ...
    @property
    def secrets(self) -> bytes: ...
    def command(self, text: _Text, dialect: int, site: CallSite, settings: _Settings) -> list[_Finding]: ...
    def event(
        self,
        tool: _Text,
        fields: list[_Field],
        dialect: int,
        site: CallSite,
        settings: _Settings,
        flow: Flow | None = None,
    ) -> list[_Finding]: ...
    def decisions(
        self, commands: list[str], site: CallSite, settings: _Settings, dialect: int = 0, threads: int = 1
    ) -> bytes: ...
    def explain(
        self, text: _Text, dialect: int, site: CallSite, settings: _Settings
    ) -> tuple[list[_Finding], list[tuple[int, int, bool, int]], _Tree]: ...
    def read_tree(self, text: _Text, dialect: int, site: CallSite) -> _Tree: ...

class Judge:
    def __init__(
        self, policy: Policy, settings: tuple[int, int, int, int, int, int, bool], secrets: bytes | None
    ) -> None: ...
    def command(
        self, text: str, dialect: int, site: CallSite, flow: Flow | None = None
    ) -> tuple[list[_Finding], bool] | None: ...
    def call(
        self,
        tool: str,
        params: Any,
        dialect: int,
        site: CallSite,
        sites: dict[str | None, CallSite],
        flow: Flow | None = None,
    ) -> tuple[list[_Finding] | None, bool] | None: ...
