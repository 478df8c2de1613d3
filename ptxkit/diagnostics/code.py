"""A diagnostic code: its properties in the catalogue, and the string by which users and files know it."""

from __future__ import annotations

from enum import StrEnum


class Severity(StrEnum):
    """The certainty and importance of a finding. `ERROR` needs a proof that the ISA is violated."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class DiagnosticCode(str):
    """One code, such as `PTX401`, which is never reused for something else.

    It is a string, so that it compares with codes that were read from settings, comments and reports.

    name: its name for users, such as `missing-proxy-fence`. severity: the default severity of its findings. sections:
    the titles of the manual's sections that its findings violate.
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
        """Reduces the code to its string, which is stored or sent to another process."""
        return str, (str(self),)
