"""Surveys as JSON. The schemas are in the documentation; `version` changes if one becomes incompatible."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ptxkit.model.survey import Found, Survey
from ptxkit.report.as_json import diagnostic_object, replace_surrogates

VERSION = 1


def surveys_json(surveys: Sequence[Survey[Found]], as_object: Callable[[Found], dict[str, object]]) -> str:
    """The document as ASCII text with a final line end. as_object: returns the object of a kernel."""
    import json

    files = [
        {
            "path": survey.path,
            "status": str(survey.status),
            "target": survey.target or None,
            "kernels": [as_object(each) for each in survey.kernels or ()],
            "diagnostics": [diagnostic_object(item) for item in survey.diagnostics],
        }
        for survey in surveys
    ]
    return json.dumps(replace_surrogates({"version": VERSION, "files": files}), indent=2) + "\n"
