"""A diagnostic code: what the catalogue says of it, and the string by which users and files know it."""

from __future__ import annotations

from enum import StrEnum


class Severity(StrEnum):
    """How sure and how bad. `ERROR` needs a proof that the ISA is violated."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class DiagnosticCode(str):
    """One code, such as `PTX401`; it is never reused for something else.

    It is the string itself, so that it compares with codes that were read from settings, comments and reports.

    name: by which users may call it, as `missing-proxy-fence`. severity: that of its findings where nothing lowers or
    raises it. sections: the titles of the manual's sections that state what its findings break.
    """

    __slots__ = ("name", "sections", "severity")

    name: str
    severity: Severity
    sections: tuple[str, ...]

    def __new__(
        cls, code: str, name: str, severity: Severity = Severity.ERROR, sections: tuple[str, ...] = ()
    ) -> DiagnosticCode:
        made = super().__new__(cls, code)
        made.name, made.severity, made.sections = name, severity, sections
        return made

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        """What is stored or sent to another process is the string."""
        return str, (str(self),)
