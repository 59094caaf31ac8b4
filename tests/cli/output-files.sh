#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Files that a user names for output: no ledger is ever overwritten, no symbolic link is followed, and a file of another
# kind is replaced only with --force.
. "$top_srcdir/tests/cli/lib.sh"
fresh 'v6e 4x4 x1'
is_ledger ()
{
  quoit verify >/dev/null 2>&1
}

# kept STATUS 'sentence' 'TEXT|TEXT' FILE [WORD...]: map --svg FILE is refused, and the file is unchanged.
kept ()
{
  kept_status=$1 kept_sentence=$2 kept_texts=$3 kept_file=$4
  shift 4
  ls -ln "$kept_file" >"$tmp/listed" 2>&1
  cat "$kept_file" >"$tmp/content" 2>/dev/null
  refused "$kept_status" "$kept_sentence" "$kept_texts" map --svg "$kept_file" "$@"
  holds "$kept_sentence: nothing is printed" test ! -s "$tmp/out"
  ls -ln "$kept_file" >"$tmp/listed-after" 2>&1
  holds "$kept_sentence: the name is as it was" cmp "$tmp/listed" "$tmp/listed-after"
  cat "$kept_file" 2>/dev/null >"$tmp/content-after"
  holds "$kept_sentence: the content is as it was" cmp "$tmp/content" "$tmp/content-after"
}

# --- a ledger and its companion files, with and without --force
for force in "" --force; do
  # shellcheck disable=SC2086
  kept 7 "the ledger $force" "--svg '$QUOIT_DB': a ledger|name another file" "$QUOIT_DB" $force
  for tail in wal shm journal head; do
    # shellcheck disable=SC2086
    kept 7 "its -$tail $force" "--svg '$QUOIT_DB-$tail'|belongs to the ledger|name another file" "$QUOIT_DB-$tail" $force
  done
  holds "the ledger is whole" is_ledger
done
quoit backup "$tmp/backup" >/dev/null
kept 7 "a backup" "a ledger" "$tmp/backup" --force
kept 7 "the -wal of a backup" "belongs to the ledger '$tmp/backup'" "$tmp/backup-wal" --force
ln "$QUOIT_DB" "$tmp/second" && rm -f "$tmp/baseline"
run map --db "$tmp/backup" --svg "$tmp/second" --force
holds "a second name of the ledger is refused" test "$status" -eq 7
rm "$tmp/second" && baseline
ln -s quoit.db "$tmp/link"
kept 7 "a link to the ledger" "a ledger" "$tmp/link" --force
rm "$tmp/link"

# --- links
printf '<svg xmlns="http://www.w3.org/2000/svg"/>\n' >"$tmp/precious.svg"
cp "$tmp/precious.svg" "$tmp/copy.svg"
ln -s precious.svg "$tmp/link.svg"
kept 7 "a symbolic link" "--svg '$tmp/link.svg': a symbolic link|--force" "$tmp/link.svg"
ln -s "$tmp/nothing.svg" "$tmp/dangling.svg"
kept 7 "a symbolic link to nothing" "a symbolic link|--force" "$tmp/dangling.svg"
holds "and nothing is made" test ! -e "$tmp/nothing.svg"
ok 0 "with --force" map --svg "$tmp/link.svg" --force
holds "the link is replaced" test ! -L "$tmp/link.svg"
holds "by a picture" grep -q '^<svg' "$tmp/link.svg"
holds "and not followed" cmp "$tmp/precious.svg" "$tmp/copy.svg"

# --- files of another kind
echo 'the only copy' >"$tmp/thesis"
kept 7 "a text" "--svg '$tmp/thesis': a file that is no SVG picture|--force" "$tmp/thesis"
printf '<!DOCTYPE html>\n<html><svg></svg></html>\n' >"$tmp/page.html"
kept 7 "a page" "no SVG picture" "$tmp/page.html"
printf '<?xml version="1.0"?><!-- <svg> -->\n<svgs/>' >"$tmp/other.xml"
kept 7 "another document of XML" "no SVG picture" "$tmp/other.xml"
printf '<?xml' >"$tmp/cut.xml"
kept 7 "a document without an end" "no SVG picture" "$tmp/cut.xml"
ok 0 "a text, with --force" map --svg "$tmp/thesis" --force
holds "is replaced" grep -q '^<svg' "$tmp/thesis"
for text in '<svg/>' '<svg>' '<svg xmlns="http://www.w3.org/2000/svg">' '\357\273\277 \n<svg\n>' \
  '<?xml version="1.0"?>\n<!-- made\nby hand -->\n<!DOCTYPE svg PUBLIC "a>b" "c" [ <!ENTITY d "e>f"> ]>\n<svg/>' ''; do
  # shellcheck disable=SC2059
  printf "$text" >"$tmp/picture"
  ok 0 "a picture: $text" map --svg "$tmp/picture"
  holds "is replaced: $text" grep -q 'All\|all slices' "$tmp/picture"
done
(umask 027 && quoit map --svg "$tmp/mode.svg") >/dev/null
holds "the umask decides the mode" test "$(ls -l "$tmp/mode.svg" | cut -c 1-10)" = -rw-r-----
holds "nothing else is left beside" test -z "$(find "$tmp" -name '*svg.*' -o -name '.*' -type f)"

# --- directories and devices
mkdir "$tmp/folder"
kept 7 "a folder" "a folder" "$tmp/folder" --force
kept 7 "a device" "a device|expected a file or a pipe" /dev/null --force
mkfifo "$tmp/pipe"
cat "$tmp/pipe" >"$tmp/piped" &
ok 0 "a pipe" map --svg "$tmp/pipe"
wait $!
holds "gets the picture" grep -q '^</svg>' "$tmp/piped"
holds "and stays a pipe" test -p "$tmp/pipe"
quoit map --svg /dev/stdout 2>&1 | cat >"$tmp/both"
holds "standard output gets it" grep -q '^</svg>' "$tmp/both"
holds "and the text after it" test "$(sed -n '$p' "$tmp/both" | cut -c 1)" = '#'
quoit map --svg /dev/stdout >"$tmp/both.txt"
holds "a file behind standard output gets both" cmp "$tmp/both" "$tmp/both.txt"
quoit map --svg /dev/fd/7 7>"$tmp/seven" >/dev/null
holds "a descriptor gets it" grep -q '^</svg>' "$tmp/seven"
quoit map --svg /dev/fd/7 7<>"$QUOIT_DB" >/dev/null 2>&1
holds "but no descriptor of a ledger" is_ledger

# --- the option alone
refused 2 "--force without --svg" "--force" map --force
refused 2 "no name" "--svg ''" map --svg ''

# --- backups
echo 'pages of another database' >"$tmp/copy-wal"
refused 7 "a backup beside a stale -wal" "$tmp/copy-wal: is left of an earlier database" backup "$tmp/copy"
holds "makes nothing beside a -wal" test ! -e "$tmp/copy"
rm "$tmp/copy-wal"
for tail in wal shm journal head; do
  refused 7 "a backup named as the -$tail of a ledger" "$tmp/backup-$tail: a name that belongs to" backup "$tmp/backup-$tail"
  holds "makes no -$tail" test ! -e "$tmp/backup-$tail"
done
rm -f "$tmp/link"
ln -s "$tmp/elsewhere" "$tmp/link"
refused 7 "a backup through a link" "$tmp/link" backup "$tmp/link"
holds "makes nothing" test ! -e "$tmp/elsewhere"

# --- a restore changes only the database
quoit backup "$QUOIT_DB-restore" >/dev/null
sum=$(cksum <"$QUOIT_DB-restore")
echo 'the only copy' >"$QUOIT_DB-restore-wal.txt"
ok 0 "a backup of any name" restore "$QUOIT_DB-restore" --now "$now"
holds "is as it was" test "$(cksum <"$QUOIT_DB-restore" 2>&1)" = "$sum"
holds "nothing is left beside" test "$(find "$tmp" -name 'quoit.db?restore*' | wc -l)" = 2
finish
