# SPDX-License-Identifier: Apache-2.0
# Reads the tables of rules in docs/checking.md, whose rows are "| `rule` | severity | text |", and prints a C table.
BEGIN {
  print "/* Made from docs/checking.md by cli/rule-texts.awk. */"
  print "static const struct {\n  const char *rule, *text;\n} rule_texts[] = {"
}

/^\| `[a-z0-9-]+` \| (error|warning|note) \| / {
  split($0, cells, / \| /)
  rule = cells[1]
  gsub(/[|` ]/, "", rule)
  text = $0
  sub(/^\| `[a-z0-9-]+` \| [a-z]+ \| /, "", text)
  sub(/ *\|$/, "", text)
  while (match(text, /\]\([^)]*\)/)) # a link keeps its words
    text = substr(text, 1, RSTART - 1) substr(text, RSTART + RLENGTH)
  gsub(/ \[/, " ", text)
  gsub(/`/, "'", text)
  text = toupper(substr(text, 1, 1)) substr(text, 2)
  if (text !~ /\.$/)
    text = text "."
  gsub(/\\/, "\\\\", text)
  gsub(/"/, "\\\"", text)
  printf "  { \"%s\", \"%s\" },\n", rule, text
  n++
}

END {
  print "};"
  if (n == 0)
    exit 1
}
