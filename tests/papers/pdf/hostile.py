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


def stream(data: bytes, extra: bytes = b"", *, compressed: bool = False) -> bytes:
    """A stream object; `extra` goes into its dictionary."""
    body = zlib.compress(data, 9) if compressed else data
    packed = b"/Filter/FlateDecode" if compressed else b""
    return b"<</Length %d%s%s>>\nstream\n%s\nendstream" % (len(body), packed, extra, body)


def raw_pdf(objects: Mapping[int, bytes], trailer: bytes = b"", *, root: int = 1) -> bytes:
    """A file of objects by their numbers, with a table of their places."""
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
    return bytes(
        out + b"trailer\n<</Size %d/Root %d 0 R%s>>\nstartxref\n%d\n%%%%EOF\n" % (size, root, trailer, start)
    )


def paged(changes: Mapping[int, bytes] | None = None, trailer: bytes = b"") -> bytes:
    """One page of text (object 4 its content, 5 its font), with some objects changed."""
    objects = {
        1: b"<</Type/Catalog/Pages 2 0 R>>",
        2: b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        3: b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R"
        b"/Resources<</Font<</F1 5 0 R>>/XObject<</X 6 0 R>>>>>>",
        4: stream(TEXT),
        5: FONT,
    }
    return raw_pdf({**objects, **(changes or {})}, trailer)


def _bomb(size: int, filters: int = 1) -> bytes:
    data = zlib.compress(bytes(size), 9)
    for _ in range(filters - 1):
        data = zlib.compress(data, 9)
    return b"<</Length %d/Filter[%s]>>\nstream\n%s\nendstream" % (len(data), b"/FlateDecode" * filters, data)


def _kept_bomb() -> bytes:
    """A gigabyte of zeros: one compressed mebibyte, repeated as it is."""
    packer = zlib.compressobj(9)
    first = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    again = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    data = first + again * 1023
    return b"<</Length %d/Filter/FlateDecode>>\nstream\n%s\nendstream" % (len(data), data)


_JAVASCRIPT = (
    b"<</Type/Catalog/Pages 2 0 R/OpenAction<</S/JavaScript/JS(app.launchURL\\('http://127.0.0.1:9/'\\))>>"
    b"/AA<</WC<</S/Launch/F(/bin/sh)>>>>/Names<</JavaScript<</Names[(a) 7 0 R]>>/EmbeddedFiles<</Names[(b) 7 0 R]>>>>>>"
)
_LINKED_PAGE = (
    b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>"
    b"/Annots[<</Type/Annot/Subtype/Link/Rect[0 0 9 9]/A<</S/Launch/F(/bin/sh)>>>>]/AA<</O<</S/JavaScript/JS(x)>>>>>>"
)


def _deep(n: int) -> bytes:
    return b"[" * n + b"]" * n


def _branching_forms(depth: int, width: int) -> bytes:
    """Every form calls the next one many times: width to the power of depth in all."""
    forms = {}
    for i in range(depth):
        extra = b"/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X %d 0 R>>>>" % (7 + i)
        forms[6 + i] = stream(b"/X Do " * width, extra)
    return paged({**forms, 4: stream(TEXT + b" /X Do" * width), 6 + depth: b"null"})


def _strewn(text: bytes, width: int) -> bytes:
    """Twenty thousand pieces of text at places that have nothing to do with lines."""
    places = ((37 * i % width, 53 * i % 829) for i in range(20_000))
    shown = b" ".join(b"1 0 0 1 %d %d Tm (%s) Tj" % (x, y, text) for x, y in places)
    return paged({4: stream(TEXT + b" BT /F1 5 Tf " + shown + b" ET", compressed=True)})


HOSTILE: Final[Mapping[str, Callable[[], bytes]]] = {
    "scripts and launch actions": lambda: paged(
        {1: _JAVASCRIPT, 3: _LINKED_PAGE, 7: b"<</S/Launch/F(/bin/sh)>>"}
    ),
    "page tree is its own child": lambda: paged({2: b"<</Type/Pages/Kids[2 0 R 3 0 R 2 0 R]/Count 3>>"}),
    "parents in a circle": lambda: paged({2: b"<</Type/Pages/Parent 2 0 R/Kids[3 0 R]/Count 1>>"}),
    "object refers to itself": lambda: paged({4: b"4 0 R"}),
    "objects refer to each other": lambda: paged({4: b"6 0 R", 6: b"4 0 R"}),
    "length refers to its own stream": lambda: paged(
        {4: b"<</Length 4 0 R>>\nstream\n" + TEXT + b"\nendstream"}
    ),
    "form draws itself": lambda: paged(
        {
            4: stream(TEXT + b" /X Do"),
            6: stream(
                b"/X Do /X Do", b"/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X 6 0 R>>>>"
            ),
        }
    ),
    "forms without number": lambda: _branching_forms(12, 20),
    "arrays in arrays": lambda: paged({6: _deep(100_000), 5: b"6 0 R"}),
    "arrays in arrays in the content": lambda: paged({4: stream(TEXT + _deep(100_000))}),
    "page tree a thousand deep": lambda: raw_pdf(
        {1: b"<</Type/Catalog/Pages 2 0 R>>"}
        | {n: b"<</Type/Pages/Kids[%d 0 R]/Count 1>>" % (n + 1) for n in range(2, 1500)}
        | {1500: b"<</Type/Page/MediaBox[0 0 9 9]>>"}
    ),
    "counts a billion objects": lambda: paged().replace(b"/Size 6", b"/Size 999999999"),
    "table counts a billion objects": lambda: paged().replace(b"xref\n0 6", b"xref\n0 999999999"),
    "counts a billion pages": lambda: paged({2: b"<</Type/Pages/Kids[3 0 R]/Count 999999999>>"}),
    "inflates to a gigabyte": lambda: paged({4: _kept_bomb()}),
    "inflates twice": lambda: paged({4: _bomb(100 << 20, 2)}),
    "inflates in many streams": lambda: paged({4: b"[" + b"6 0 R " * 500 + b"]", 6: _bomb(60 << 20)}),
    "character map inflates": lambda: paged(
        {5: b"<</Type/Font/Subtype/Type1/BaseFont/X/ToUnicode 6 0 R>>", 6: _kept_bomb()}
    ),
    "character map without end": lambda: paged(
        {
            5: b"<</Type/Font/Subtype/Type0/BaseFont/X/Encoding/Identity-H/ToUnicode 6 0 R>>",
            6: stream(b"begincmap 1 beginbfrange <00000000> <ffffffff> <0000> endbfrange endcmap"),
        }
    ),
    "font counts widths without end": lambda: paged(
        {
            5: b"<</Type/Font/Subtype/Type0/BaseFont/X/Encoding/Identity-H/DescendantFonts[6 0 R]>>",
            6: b"<</Type/Font/Subtype/CIDFontType2/W[0 999999999 500]>>",
        }
    ),
    "five thousand pages": lambda: paged({2: b"<</Type/Pages/Kids[" + b"3 0 R " * 5000 + b"]/Count 5000>>"}),
    "page of ten million operators": lambda: paged({4: stream(b"q Q " * 5_000_000, compressed=True)}),
    "states saved without end": lambda: paged({4: stream(TEXT + b"q " * 2_000_000, compressed=True)}),
    "a million words": lambda: paged(
        {4: stream(TEXT + b"BT /F1 9 Tf (a) Tj 20 0 Td " * 1_000_000, compressed=True)}
    ),
    "words strewn over the page": lambda: _strewn(b"ab", 557),
    "captions strewn over the page": lambda: _strewn(b"Table 1. Ab", 89),
    "long lines strewn over the page": lambda: _strewn(b"a" * 100, 89),
    "strings without end": lambda: paged({4: stream(TEXT + b"(" * 1_000_000, compressed=True)}),
    "brackets in strings": lambda: paged({4: stream(TEXT + b"((((a)))) Tj (" * 200_000, compressed=True)}),
    "numbers without end": lambda: paged({4: stream(TEXT + b"9" * 5_000_000 + b" 0 Td", compressed=True)}),
    "places beyond all measure": lambda: paged(
        {4: stream(b"BT /F1 1e30 Tf 1e300 0 0 1e300 1e308 1e308 Tm (a b) Tj ET " + TEXT)}
    ),
    "places that are no numbers": lambda: paged({4: stream(b"BT /F1 nan Tf inf nan Td (a) Tj ET " + TEXT)}),
    "inline image without end": lambda: paged({4: stream(TEXT + b" BI /W 9 /H 9 ID " + b"x" * 1_000_000)}),
    "page without size": lambda: paged({3: b"<</Type/Page/Parent 2 0 R/Contents 4 0 R/MediaBox[0 0]>>"}),
    "page beyond all size": lambda: paged(
        {
            3: b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 1e30 1e30]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>"
        }
    ),
    "table of places is wrong": lambda: paged().replace(b"startxref\n", b"startxref\n9999"),
    "table of places points anywhere": lambda: paged().replace(b"00000 n", b"00009 n"),
    "previous table is this table": lambda: paged(trailer=b"/Prev 9"),
    "cut in half": lambda: paged()[: len(paged()) // 2],
    "only a head": lambda: b"%PDF-1.7\n",
    "head and noise": lambda: b"%PDF-1.7\n" + bytes(range(256)) * 400,
    "no PDF": lambda: b"This is a text.",
    "nothing": lambda: b"",
}
