"""The measures of the ten layouts, and what real PDFs give: ``python -m tests.papers.pdf.layouts_report``."""

from __future__ import annotations

import json
import time
from statistics import mean

from evidencebench_core.errors import PaperError
from evidencebench_core.papers.pdf import paper_of_pdf
from tests.conftest import DATA
from tests.papers.pdf.layouts import LAYOUTS
from tests.papers.pdf.measures import Match, match_of, printed_paper
from tests.papers.pdf.real_articles import article_of
from tests.papers.pdf.typesetting import typeset


def main() -> None:
    raws = list(json.loads((DATA / "evidencebench/evidencebench_train_set.json").read_bytes()).values())
    print(
        "layout                          sentences  precision  recall  headings  right  title  abstract  s/paper"
    )
    everything: list[tuple[Match, float]] = []
    for number, layout in enumerate(LAYOUTS):
        own = []
        for k in (0, 1):
            article = article_of(raws[4 * (2 * number + k) + 1])
            content, began = typeset(article, layout), time.process_time()
            paper = paper_of_pdf(content)
            seconds = time.process_time() - began
            own.append((match_of(paper, printed_paper(article)), seconds))
        _print(layout.name, own)
        everything += own
    _print("all", everything)
    for path in sorted((DATA / "real_papers").glob("*.pdf")):
        began = time.process_time()
        try:
            paper = paper_of_pdf(path.read_bytes(), path.name)
        except PaperError as error:
            print(f"{path.name}: {error}")
            continue
        except Exception as error:  # noqa: BLE001 - to be printed
            print(f"{path.name}: internal error {error!r}")
            continue
        kinds = [
            paper.sentence_types.count(kind) for kind in ("section_name", "abstract", "normal_paragraph")
        ]
        print(
            f"{path.name}: {kinds[0]} headings, {kinds[1]} of the abstract, {kinds[2]} of the text,"
            f" {time.process_time() - began:.2f} s; {dict(paper.left_out)} {paper.notes}"
        )


def _print(name: str, own: list[tuple[Match, float]]) -> None:
    matches = [match for match, _ in own]
    figures = [
        mean(m.sentences for m in matches),
        mean(m.precision for m in matches),
        mean(m.recall for m in matches),
        mean(m.headings for m in matches),
        mean(m.headings_right for m in matches),
        mean(m.title for m in matches),
        mean(m.abstract for m in matches),
    ]
    print(f"{name:<32}" + "".join(f"{x:9.4f}" for x in figures) + f"{mean(s for _, s in own):9.2f}")


if __name__ == "__main__":
    main()
