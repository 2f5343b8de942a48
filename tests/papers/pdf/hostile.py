"""PDF files that mean harm, or were made by a fool: each as bytes, made when it is asked for."""

import zlib
from collections.abc import Callable, Mapping
from typing import Final

SENTENCE = "This sentence is printed on the page and can be read as it stands."
TEXT: Final = (
    b"BT /F1 10 Tf 72 700 Td 14 TL "
    + b" ".join(b"(" + SENTENCE.encode() + b") Tj T*" for _ in range(6))
    + b" ET"
)
FONT: Final = b"<</Type/Font/Subtype/Type1/BaseFont/Times-Roman>>"


def stream(data: bytes, extra: bytes = b"") -> bytes:
    """A stream object; `extra` goes into its dictionary."""
    return b"<</Length %d%s>>\nstream\n%s\nendstream" % (len(data), extra, data)


def paged(changes: Mapping[int, bytes] | None = None, trailer: bytes = b"") -> bytes:
    """One page of text (object 4 its content, 5 its font), with some objects changed."""
    objects = {
        1: b"<</Type/Catalog/Pages 2 0 R>>",
        2: b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        3: b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R"
        b"/Resources<</Font<</F1 5 0 R>>/XObject<</X 6 0 R>>>>>>",
        4: stream(TEXT),
        5: FONT,
        **(changes or {}),
    }
    out = bytearray(b"%PDF-1.7\n")
    places = {}
    for number, body in objects.items():
        places[number] = len(out)
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    size = max(objects) + 1
    out += b"xref\n0 %d\n" % size
    for number in range(size):
        out += b"%010d 00000 n \n" % places[number] if number in places else b"0000000000 65535 f \n"
    out += b"trailer\n<</Size %d/Root 1 0 R%s>>\nstartxref\n%d\n%%%%EOF\n" % (size, trailer, start)
    return bytes(out)


def _kept_bomb() -> bytes:
    """A gigabyte of zeros: one compressed mebibyte, repeated as it is."""
    packer = zlib.compressobj(9)
    first = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    again = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    return stream(first + again * 1023, b"/Filter/FlateDecode")


_JAVASCRIPT = (
    b"<</Type/Catalog/Pages 2 0 R/OpenAction<</S/JavaScript/JS(app.launchURL\\('http://127.0.0.1:9/'\\))>>"
    b"/AA<</WC<</S/Launch/F(/bin/sh)>>>>/Names<</JavaScript<</Names[(a) 7 0 R]>>/EmbeddedFiles<</Names[(b) 7 0 R]>>>>>>"
)
_LINKED_PAGE = (
    b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>"
    b"/Annots[<</Type/Annot/Subtype/Link/Rect[0 0 9 9]/A<</S/Launch/F(/bin/sh)>>>>]/AA<</O<</S/JavaScript/JS(x)>>>>>>"
)
_FORM = b"/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X 6 0 R>>>>"
_MAPPED_FONT = b"<</Type/Font/Subtype/Type0/BaseFont/X/Encoding/Identity-H/ToUnicode 6 0 R>>"
_MAP = b"begincmap 1 beginbfrange <00000000> <ffffffff> <0000> endbfrange endcmap"

HOSTILE: Final[Mapping[str, Callable[[], bytes]]] = {
    "scripts and launch actions": lambda: paged(
        {1: _JAVASCRIPT, 3: _LINKED_PAGE, 7: b"<</S/Launch/F(/bin/sh)>>"}
    ),
    "objects refer to each other": lambda: paged({4: b"6 0 R", 6: b"4 0 R"}),
    "form draws itself": lambda: paged({4: stream(TEXT + b" /X Do"), 6: stream(b"/X Do /X Do", _FORM)}),
    "inflates to a gigabyte": lambda: paged({4: _kept_bomb()}),
    "character map without end": lambda: paged({5: _MAPPED_FONT, 6: stream(_MAP)}),
    "five thousand pages": lambda: paged({2: b"<</Type/Pages/Kids[" + b"3 0 R " * 5000 + b"]/Count 5000>>"}),
    "cut in half": lambda: paged()[: len(paged()) // 2],
    "head and noise": lambda: b"%PDF-1.7\n" + bytes(range(256)) * 400,
}
