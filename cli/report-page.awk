# SPDX-License-Identifier: Apache-2.0
# Prints the files of the page of `quoit report` as C tables of lines: page.css becomes report_css, and so on.
FNR == 1 {
  if (NR > 1)
    print "  NULL\n};"
  else
    print "/* Made from cli/report/ by cli/report-page.awk. */"
  name = FILENAME
  sub(/.*\./, "", name)
  printf "static const char *const report_%s[] = {\n", name
}

{
  gsub(/\\/, "\\\\\\\\")
  gsub(/"/, "\\\"")
  printf "  \"%s\\n\",\n", $0
}

END {
  print "  NULL\n};"
}
