"""The app's scripts write text as text, and its styles load nothing."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MARKUP = ("innerHTML", "outerHTML", "insertAdjacent", "eval(", "Function(", "fetch(", "document.write")
FORBIDDEN = {".js": MARKUP, ".css": ("url(", "@import")}


def test_nothing_is_parsed_as_markup_fetched_or_evaluated() -> None:
    files = [path for room in ("components", "evidencebench_core") for path in (ROOT / room).rglob("*.*")]
    files = [path for path in files if path.suffix in FORBIDDEN]
    assert {path.suffix for path in files} == set(FORBIDDEN)
    for path in files:
        text = path.read_text("utf-8")
        assert [word for word in FORBIDDEN[path.suffix] if word in text] == [], path
