"""A report as files for machines: CSV with a line a lane, and JSON whose shape is `panel.reports.shapes`."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import astuple, fields

from panel.models import Report
from panel.reports.shapes import LaneLine
from panel.reports.words import body_of

# A cell that begins so is a formula to a spreadsheet.
FORMULA = ("=", "+", "-", "@", "\t", "\r")
COLUMNS = ("period", "zone", "begins", "ends", *(field.name for field in fields(LaneLine)))


def as_csv(report: Report) -> str:
    """Return a head and a line a lane; an unknown value is an empty cell. A text that a spreadsheet would
    take for a formula is led by an apostrophe."""
    body, text = body_of(report), io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for lane in body.lanes:
        cells = (body.period, body.zone, body.begins, body.ends, *astuple(lane))
        writer.writerow([_safe(cell) for cell in cells])
    return text.getvalue()


def as_json(report: Report) -> str:
    """Return the body with the report's code, and when it was made."""
    said = {"report": report.code, "made_at": report.made_at.isoformat(timespec="seconds")} | report.body
    return json.dumps(said, ensure_ascii=False, indent=2) + "\n"


def _safe(cell: object) -> object:
    if isinstance(cell, str) and cell.startswith(FORMULA):
        return f"'{cell}"
    return cell
