"""PDF with a text layer to `Paper`: one function, `paper_of_pdf`."""

from evidencebench_core.papers.pdf.importer import paper_of_pdf
