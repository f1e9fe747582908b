"""reStructuredText, AsciiDoc, Org and LaTeX: structure as their own programs show it."""

from contextlib import suppress

import pytest

from libs.contracts.faults import DocumentFault
from tests.support.fences import cpu_fence
from tests.support.parsing import parse_bytes

RST = """\
=====
Pumps
=====

A *pump* moves ``water``, see :ref:`valves <v>` and `the list <http://x.example>`_.

Valves
------

.. note:: Take care.

* one
* two
  goes on

  1. inner

Run it::

   turn --left
     twice

.. code-block:: python
   :linenos:

   print(42)

Spans
~~~~~

+------+-----+
| Name | Bar |
+======+=====+
| V1   | 3   |
+------+-----+
| both       |
+------------+

Simple
------

====  ===
Name  Bar
====  ===
V2    4
V3    5
====  ===

.. csv-table:: Prices
   :header: "Name", "Price"

   "V4", "6, at most"

.. [1] A note.
.. comment that nobody sees
"""

ADOC = """\
= Pumps
Jane Doe
:toc:

A *pump* moves water.

== Valves

.Their parts
* one
** two
. first

----
code *here*
----

NOTE: Take care.

=== Deeper

|===
|Name |Bar

|V1 |3
2+|both
|===
"""

ORG = """\
#+TITLE: Manual
* Pumps
A *pump* moves [[http://x.example][water]].
** TODO Valves :tag:
:PROPERTIES:
:ID: 7
:END:
- one
  - two
| Name | Bar |
|------+-----|
| V1   | 3   |
#+BEGIN_SRC python
,* 42
#+END_SRC
:open:
"""

TEX = r"""
\documentclass{article}
\title{Pumps \& valves}
\newcommand{\x}{unseen}
\begin{document}
\maketitle
\section{Intro\label{s}}
A \emph{pump} moves water~\cite{x}, 50\% of it. % a comment
It is caf\'e--like: $a_1 < b$.\footnote{Not always.}

\subsection*{Valves}
\begin{enumerate}
\item one
\item two
\end{enumerate}
\begin{equation}
a = b + c
\end{equation}
\begin{table}
\caption{Bars}
\begin{tabular}{l|r}
Name & Bar \\ \hline
V1 & 3 \\
\multicolumn{2}{c}{both} \\
\end{tabular}
\end{table}
\begin{verbatim}
x % y
\end{verbatim}
\end{document}
unseen
"""


def test_rst():
    parsed = parse_bytes(RST.encode(), "rst")
    assert parsed.outline() == [(1, "Pumps"), (2, "Valves"), (3, "Spans"), (2, "Simple")]
    assert parsed.texts("paragraph") == [
        "A pump moves water, see valves and the list.",
        "Take care.",
        "Run it:",
    ]
    assert parsed.texts("list_item") == ["one", "two goes on", "inner"]
    assert [r.level for r in parsed.rows if r.kind == "list_item"] == [1, 1, 2]
    assert parsed.texts("code") == ["turn --left\n  twice", "print(42)"]
    assert parsed.texts("table") == [
        "Name: V1; Bar: 3\nName: both",
        "Name: V2; Bar: 4\nName: V3; Bar: 5",
        "Name: V4; Price: 6, at most",
    ]
    assert '<td colspan="2">both</td>' in next(r.html or "" for r in parsed.rows if r.html)
    assert parsed.texts("caption") == ["Prices"]
    assert [(r.marker, r.text) for r in parsed.rows if r.kind == "footnote"] == [("1", "A note.")]


def test_asciidoc():
    parsed = parse_bytes(ADOC.encode(), "adoc")
    assert parsed.outline() == [(1, "Pumps"), (2, "Valves"), (3, "Deeper")]
    assert parsed.texts("paragraph") == ["Jane Doe", "A pump moves water.", "NOTE: Take care."]
    assert [(r.text, r.level) for r in parsed.rows if r.kind == "list_item"] == [
        ("one", 1),
        ("two", 2),
        ("first", 1),
    ]
    assert parsed.texts("code") == ["code *here*"]
    assert parsed.texts("caption") == ["Their parts"]
    assert parsed.only("table").text == "Name: V1; Bar: 3\nName: both"
    assert '<td colspan="2">both</td>' in (parsed.only("table").html or "")


def test_org():
    parsed = parse_bytes(ORG.encode(), "org")
    assert parsed.outline() == [(1, "Manual"), (2, "Pumps"), (3, "Valves")]
    assert parsed.texts("paragraph") == ["A pump moves water.", ":open:"]
    assert [(r.text, r.level) for r in parsed.rows if r.kind == "list_item"] == [
        ("one", 1),
        ("two", 2),
    ]
    assert parsed.only("table").text == "Name: V1; Bar: 3"
    assert parsed.texts("code") == ["* 42"]


def test_latex():
    parsed = parse_bytes(TEX.encode(), "tex")
    assert parsed.outline() == [(1, "Pumps & valves"), (2, "Intro"), (3, "Valves")]
    assert parsed.texts("paragraph") == [
        "A pump moves water [x], 50% of it. It is café–like: $a_1 < b$.",
    ]
    assert parsed.texts("footnote") == ["Not always."]
    assert [(r.marker, r.text) for r in parsed.rows if r.kind == "list_item"] == [
        ("1.", "one"),
        ("2.", "two"),
    ]
    assert parsed.texts("formula") == ["a = b + c"]
    assert parsed.texts("caption") == ["Bars"]
    assert parsed.only("table").text == "Name: V1; Bar: 3\nName: both"
    assert parsed.texts("code") == ["x % y"]
    assert not any("unseen" in row.text for row in parsed.rows)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rst", "adoc", "org", "tex"])
@pytest.mark.parametrize(
    "piece",
    [
        "\\section{", "\\begin{tabular}{l} ", "\\item[", "$", "\\\\", "{", "= a  ", "|===\n", "|",
        "+-", "+-+\n", "== ==\n", ".. table::\n", ".. code::\n\n ", "`a <", "*a ", ":a:`", "[[a",
        "#+begin_src\n", "* a\n", "----\n", "::\n\n x\n", "%", "\n \n", "a " + " " * 50,
    ],
)  # fmt: skip
def test_pieces_that_never_end_are_read_in_linear_time(name, piece):
    with cpu_fence():
        with suppress(DocumentFault):
            parse_bytes((piece * (200_000 // len(piece)) + "end").encode(), name)
