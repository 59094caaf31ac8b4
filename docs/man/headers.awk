# SPDX-License-Identifier: Apache-2.0
# Reads the public headers for page.awk: the codes of errors, the opaque types and the functions, each with the first
# sentence of its documentation.

function read_errors (file,    line, name, number)
{
  while ((getline line <file) > 0)
    if (line ~ /^  QUOIT_ERROR_[A-Z_]+ = [0-9]+,? *\/\* .* \*\/$/) {
      name = number = line
      sub (/^  QUOIT_ERROR_/, "", name)
      sub (/ .*/, "", name)
      sub (/^[^=]*= /, "", number)
      sub (/[^0-9].*/, "", number)
      sub (/^[^*]*\* /, "", line)
      sub (/ \*\/$/, "", line)
      error_name[++n_errors] = name
      error_number[name] = number
      error_text[name] = line
    }
  close (file)
}

function put_errors (    i)
{
  put(".Bl -tag -width 00 -compact")
  for (i = 1; i <= n_errors; i++)
    put(".It " error_number[error_name[i]] "\n" error_name[i] ": " error_text[error_name[i]])
  put(".El")
}

# Removes the markup of the headers' comments.
function plain (text)
{
  gsub (/[%@#]/, "", text)
  gsub (/`/, "'", text)
  return as_text(text)
}

function first_sentence (text)
{
  if (match (text, /\. /))
    text = substr (text, 1, RSTART)
  sub (/[.:;]?$/, ".", text)
  return text
}

# Removes the annotations, and everything after the first semicolon.
function bare (text)
{
  sub (/^(\([^)]*\) ?)*: /, "", text)
  sub (/;.*/, "", text)
  return text
}

# Returns the purpose of a name: the first sentence of its documentation, unless that describes failures; else the text
# of its return value; else the text of the argument that it frees or sets.
function purpose_of (name, sentence, returned, first_argument, argument)
{
  if (sentence != "" && sentence !~ /^Fails/)
    return first_sentence(sentence)
  if (returned != "")
    return "Returns " first_sentence(bare(returned))
  if (name ~ /_free$/)
    return "Frees " first_sentence(bare(first_argument))
  if (name ~ /_unref$/)
    return "Gives up " first_sentence(bare(first_argument))
  if (name !~ /_set_/)
    return ""
  sub (/.*_set_/, "", name)
  gsub (/_/, " ", name)
  return "Sets the " name ": " first_sentence(bare(argument))
}

# Calls put_item() for each handle, or each function, that the header documents and declares.
function walk (header, prefix,    file, line, name, sentence, returned, first_argument, argument, where)
{
  file = top "/include/quoit/" header
  while ((getline line <file) > 0) {
    if (line == "/**") {
      name = sentence = returned = first_argument = argument = ""
      where = "name"
    } else if (where == "declaration") {
      if (index (name, prefix) == 1 && (prefix == "quoit_" || line ~ /^typedef struct /))
        put_item(name, purpose_of(name, sentence, returned, first_argument, argument))
      where = ""
    } else if (line == " */")
      where = where == "" ? "" : "declaration"
    else if (where != "") {
      sub (/^ \* ?/, "", line)
      if (where == "name") {
        name = line
        sub (/:$/, "", name)
        where = "arguments"
      } else if (line == "")
        where = where == "arguments" ? "sentence" : "after"
      else if (line ~ /^Returns: /) {
        returned = substr (line, 10)
        where = "after"
      } else if (line ~ /^Since: /)
        where = "after"
      else if (where == "arguments" && line ~ /^@/ && line !~ /^@(error|now_ms): /) {
        argument = substr (line, index (line, ": ") + 2)
        if (first_argument == "")
          first_argument = argument
      } else if (where == "arguments" && line ~ /^  /) {
        sub (/^ +/, " ", line)
        argument = argument line
      } else if (where == "sentence")
        sentence = sentence (sentence == "" ? "" : " ") line
    }
  }
  close (file)
}

function put_item (name, purpose)
{
  put(".It " (name ~ /^quoit_/ ? "Fn " : "Vt ") name)
  if (purpose != "")
    put(plain(purpose))
}

# Adds the headers that an umbrella header includes, in its order, and returns the new number of headers.
function add_included (list, n, umbrella,    file, line)
{
  file = top "/include/quoit/" umbrella
  while ((getline line <file) > 0)
    if (line ~ /^#include <quoit\//) {
      gsub (/^#include <quoit\/|>$/, "", line)
      list[++n] = line
    }
  close (file)
  return n
}

# The headers of the core, then those of the models.
function headers_of (list,    n)
{
  n = add_included(list, 0, "quoit.h")
  list[++n] = "quoit.h"
  return add_included(list, n, "models.h")
}

function put_types (    list, n, i)
{
  n = headers_of(list)
  put(".Bl -tag -width Ds")
  for (i = 1; i <= n; i++)
    walk(list[i], "Quoit")
  put(".El")
}

function put_functions (    list, n, i)
{
  n = headers_of(list)
  for (i = 1; i <= n; i++) {
    put(".Ss quoit/" list[i])
    put(".Bl -tag -width Ds")
    walk(list[i], "quoit_")
    put(".El")
  }
}
