"""A reader's own paper: from a file to a candidate pool like those of the benchmark."""

from evidencebench_core.papers.child import MAX_BYTES, highlighted_pdf, page_image, page_images, read_paper
from evidencebench_core.papers.paper import Box, Doubt, Float, PageImage, Paper, PaperKind
from evidencebench_core.papers.read import ENDINGS, kind_of
