#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Comments cite rules of other systems as "NAME SECTION", such as NAME 3.2. Each citation must name a page, docs/rules/NAME.md,
# and a section with a heading of that number. A citation may have several sections and steps: "NAME 2.1, 2.2", "NAME 6.2, step 4".
set -eu
cd "$top_srcdir"

find src include cli bindings tests -type f \( -name '*.[ch]' -o -name '*.go' -o -name '*.py' -o -name '*.sh' -o -name '*.am' \) |
  LC_ALL=C sort | LC_ALL=C awk '
  function fail (message)
  {
    print file ":" line_number ": " message
    failed++
  }

  # Reads the numbers of sections, and of their steps: a heading "Step 4", or an item "4." of a list.
  function read_page (name,    page, line, section, fence)
  {
    page = "docs/rules/" name ".md"
    while ((getline line <page) > 0) {
      pages[name] = 1
      if (line ~ /^ *```/)
        fence = !fence
      if (fence)
        continue
      if (line ~ /^#+ [0-9]+(\.[0-9]+)*\.? /) {
        section = line
        sub (/^#+ /, "", section)
        sub (/\.? .*/, "", section)
        sections[name, section] = 1
      } else if (line ~ /^(#+ Step )?[0-9]+[.:] /) {
        sub (/^#+ Step /, "", line)
        sub (/[.:] .*/, "", line)
        steps[name, section, line] = 1
      }
    }
    close (page)
  }

  function check (citation,    n, words, i, name, section)
  {
    n = split (citation, words, /,? /)
    name = words[1]
    if (!(name in seen)) {
      seen[name] = 1
      read_page(name)
    }
    if (!(name in pages)) {
      fail("\"" citation "\": there is no page docs/rules/" name ".md")
      return
    }
    for (i = 2; i <= n; i++)
      if (words[i] == "step") {
        i++
        if ((name, section, words[i]) in steps)
          passed++
        else
          fail("\"" citation "\": section " section " of docs/rules/" name ".md has no step " words[i])
      } else {
        section = words[i]
        if ((name, section) in sections)
          passed++
        else
          fail("\"" citation "\": docs/rules/" name ".md has no section " section)
      }
  }

  function read_source (    line, carried, before, after)
  {
    carried = ""
    for (line_number = 1; (getline line <file) > 0; line_number++) {
      sub (/^[ \t]*(\/\*|\*|#|\/\/)?[ \t]*/, "", line)
      line = carried line
      carried = ""
      # A citation that continues on the next line.
      if (match (line, NAME "( " NUMBER "(, " MORE ")*,( step)?)?$")) {
        carried = substr (line, RSTART) " "
        line = substr (line, 1, RSTART - 1)
      }
      while (match (line, NAME " (rule |section |sections )?" NUMBER "(, " MORE ")*")) {
        before = substr (line, RSTART - 1, RSTART > 1)
        after = substr (line, RSTART + RLENGTH, 1)
        citation = substr (line, RSTART, RLENGTH)
        line = substr (line, RSTART + RLENGTH)
        if (before ~ /[A-Za-z0-9_.\/-]/ || after ~ /[A-Za-z0-9_]/)
          continue
        if (citation ~ / (rule|section|sections) /)
          fail("\"" citation "\": expected the number directly after the name of the page")
        else
          check(citation)
      }
    }
    close (file)
  }

  BEGIN {
    NAME = "(ray|gke|kuberay|jax|maxtext)(-[a-z]+)+"
    NUMBER = "[0-9]+(\\.[0-9]+)*"
    MORE = "(" NUMBER "|step [0-9]+)"
  }

  {
    file = $0
    read_source()
  }

  END {
    if (passed + failed == 0) {
      print "no comment cites a rule: expected NAME SECTION, as docs/rules/README.md shows"
      failed++
    }
    print passed + 0 " passed, " failed + 0 " failed"
    exit failed > 0
  }'
