# SPDX-License-Identifier: Apache-2.0
# Makes a manual page from its source PAGE.mdoc, which has mdoc(7) lines, and directives that begin with '@':
#
#   @title NAME SECTION            begins a page
#   @include FILE                  inserts a file of this folder
#   @source FILE                   inserts a file of the project, unchanged
#   @verbs CHAPTER                 lists the verbs whose pages name this chapter
#   @errors, @types, @functions    inserts lists from the public headers
#
# The source of a verb's page is shorter. It has '@verb NAME [ARGUMENTS]', '@summary' and '@chapter', and then these parts
# in any order: '@description'; '@options', without the options that all verbs have; '@exit', one line for each code, with the
# condition; '@examples', lines of shell; '@see', pages. The line '@at' adds the option --at.
#
# Needs -v top=SOURCES -v version=VERSION -v date=DATE -v verbs='PAGE.mdoc ...', and headers.awk before this file.

BEGIN {
  read_errors(top "/include/quoit/error.h")
}

function wrong (message)
{
  print FILENAME ":" FNR ": " message >"/dev/stderr"
  failed = 1
  exit 1
}

function rest (line)
{
  sub (/^@[a-z]+ */, "", line)
  return line
}

function put (line)
{
  if (verb == "")
    print line
  else if (part != "")
    parts[part] = parts[part] line "\n"
  else if (line !~ /^\.\\"/)
    wrong("'" line "': expected @description, @options, @exit, @examples or @see before it")
}

function put_title (name, number)
{
  put(".Dd " date)
  put(".Dt " toupper (name) " " number)
  put(".Os \"quoit " version "\"")
}

# Escapes text for roff, which interprets a backslash, and a dot or an apostrophe at the beginning of a line.
function as_text (line)
{
  gsub (/\\/, "\\e", line)
  return line ~ /^[.']/ ? "\\&" line : line
}

function put_file (name, literal,    line, found)
{
  name = top "/" name
  while ((getline line <name) > 0) {
    found = 1
    if (literal)
      put(as_text(line))
    else if (line !~ /^\.\\"/)
      put(line)
  }
  close (name)
  if (!found)
    wrong("'" name "' has nothing to read")
}

# In a usage line, upper-case words are placeholders, and lower-case words are literal.
function usage_of (text,    made, word)
{
  while (match (text, /[A-Za-z][A-Za-z-]*/)) {
    word = substr (text, RSTART, RLENGTH)
    made = made substr (text, 1, RSTART - 1) (word == toupper (word) ? "\\fI" : "\\fB") word "\\fR"
    text = substr (text, RSTART + RLENGTH)
  }
  made = made text
  gsub (/-/, "\\-", made)
  return made
}

function put_verbs (chapter,    n, files, i, line, found)
{
  n = split (verbs, files, " ")
  put(".Bl -tag -width Ds")
  for (i = 1; i <= n; i++) {
    split ("", found)
    while ((getline line <(top "/" files[i])) > 0)
      if (line ~ /^@(verb|summary|chapter) /)
        found[line ~ /^@verb/ ? "verb" : line ~ /^@summary/ ? "summary" : "chapter"] = rest(line)
    close (top "/" files[i])
    if (found["chapter"] != chapter)
      continue
    sub (/ .*/, "", found["verb"])
    put(".It Xr quoit-" found["verb"] " 1")
    put(toupper (substr (found["summary"], 1, 1)) substr (found["summary"], 2) ".")
  }
  put(".El")
}

function put_exit (line,    name)
{
  name = line
  sub (/ .*/, "", name)
  if (name != "0" && name !~ /^[A-Z_]+$/) {
    put(line)
    return
  }
  if (name != "0" && !(name in error_number))
    wrong("'" name "': expected a code of include/quoit/error.h")
  sub (/^[^ ]+ */, "", line)
  put(".It " (name == "0" ? 0 : error_number[name]))
  put(name == "0" ? line : name ": " line)
  if (name == "0")
    says_when_done = 1
}

/^@verb / {
  verb = $2
  arguments = rest($0)
  sub (/^[^ ]+ */, "", arguments)
  next
}
/^@summary / { summary = rest($0); next }
/^@chapter / { chapter = rest($0); next }
/^@(description|options|exit|examples|see)$/ { part = substr ($0, 2); next }
/^@at$/ { has_at = 1; next }
/^@title / { put_title($2, $3); next }
/^@include / { put_file("docs/man/" $2, 0); next }
/^@source / { put_file($2, 1); next }
/^@verbs / { put_verbs(rest($0)); next }
/^@errors$/ { put_errors(); next }
/^@types$/ { put_types(); next }
/^@functions$/ { put_functions(); next }
/^@/ { wrong("'" $0 "' is no line of a manual page; see docs/man/page.awk") }
part == "exit" { put_exit($0); next }
part == "examples" { put(as_text($0)); next }
{ put($0) }

END {
  if (failed || verb == "")
    exit failed
  if (summary == "" || chapter == "" || parts["description"] == "")
    wrong("expected @summary, @chapter and @description")

  part = "page"
  put_title("quoit-" verb, 1)
  put(".Sh NAME\n.Nm quoit-" verb "\n.Nd " summary)
  put(".Sh SYNOPSIS\n.Nm quoit " verb "\n.Op Ar OPTION ...")
  if (arguments != "")
    put(usage_of(arguments))
  put(".Sh DESCRIPTION\n" parts["description"] ".Sh OPTIONS\n.Bl -tag -width Ds\n" parts["options"])
  put_file("docs/man/common.part", 0)
  if (has_at)
    put_file("docs/man/at.part", 0)
  put_file("docs/man/output.part", 0)
  put("See OUTPUT in\n.Xr quoit 1 .\n.El\n.Sh EXIT STATUS\n.Bl -tag -width 00 -compact")
  put((says_when_done ? "" : ".It 0\nDone.\n") parts["exit"] ".El\n.Pp")
  put("All other errors use the codes that all verbs share: see\n.Xr quoit 1 .")
  if (parts["examples"] != "")
    put(".Sh EXAMPLES\n.Bd -literal -offset indent\n" parts["examples"] ".Ed")
  put(".Sh SEE ALSO")
  put(parts["see"] == "" ? ".Xr quoit 1" : ".Xr quoit 1 ,\n" parts["see"])
  gsub (/\n+/, "\n", parts["page"])
  printf "%s", parts["page"]
}
