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
  holds "$kept_sentence: the list of files is unchanged" cmp "$tmp/listed" "$tmp/listed-after"
  cat "$kept_file" 2>/dev/null >"$tmp/content-after"
  holds "$kept_sentence: the content is unchanged" cmp "$tmp/content" "$tmp/content-after"
}

# --- a ledger and its companion files, with and without --force
for force in "" --force; do
  # shellcheck disable=SC2086
  kept 7 "picture over the ledger $force" "--svg '$QUOIT_DB': this is a ledger|name another file" "$QUOIT_DB" $force
  for tail in wal shm journal head; do
    # shellcheck disable=SC2086
    kept 7 "picture over the -$tail of the ledger $force" "--svg '$QUOIT_DB-$tail'|belongs to the ledger|name another file" "$QUOIT_DB-$tail" $force
  done
  holds "the ledger is intact" is_ledger
done
quoit backup "$tmp/backup" >/dev/null
kept 7 "picture over a backup" "a ledger" "$tmp/backup" --force
kept 7 "picture over the -wal of a backup" "belongs to the ledger '$tmp/backup'" "$tmp/backup-wal" --force
# The database is gone, and its files tell the next restore what was acknowledged.
cp "$QUOIT_DB-head" "$tmp/lost-head"
printf '\067\177\006\202\000\055\342\030' >"$tmp/lost-wal"
printf '\331\325\005\371\040\241\143\327' >"$tmp/lost-journal"
for tail in head wal journal; do
  kept 7 "picture over the -$tail of a missing database" "--svg '$tmp/lost-$tail'|never overwritten" "$tmp/lost-$tail" --force
done
echo 'a text of the user' >"$tmp/fore-head"
ok 0 "a picture replaces another file of such a name" map --svg "$tmp/fore-head" --force
ln "$QUOIT_DB" "$tmp/second" && rm -f "$tmp/baseline"
run map --db "$tmp/backup" --svg "$tmp/second" --force
holds "a picture over a second hard link of the ledger is refused" test "$status" -eq 7
rm "$tmp/second" && baseline
ln -s quoit.db "$tmp/link"
kept 7 "picture over a link to the ledger" "a ledger" "$tmp/link" --force
rm "$tmp/link"

# --- links
printf '<svg xmlns="http://www.w3.org/2000/svg"/>\n' >"$tmp/precious.svg"
cp "$tmp/precious.svg" "$tmp/copy.svg"
ln -s precious.svg "$tmp/link.svg"
kept 7 "picture over a symbolic link" "--svg '$tmp/link.svg': this is a symbolic link|--force" "$tmp/link.svg"
ln -s "$tmp/nothing.svg" "$tmp/dangling.svg"
kept 7 "picture over a dangling symbolic link" "a symbolic link|--force" "$tmp/dangling.svg"
holds "the target of the dangling link is not created" test ! -e "$tmp/nothing.svg"
ok 0 "--force replaces a symbolic link" map --svg "$tmp/link.svg" --force
holds "the symbolic link is gone" test ! -L "$tmp/link.svg"
holds "the picture is at the path of the link" grep -q '^<svg' "$tmp/link.svg"
holds "the target of the link is unchanged" cmp "$tmp/precious.svg" "$tmp/copy.svg"

# --- files of another kind
echo 'the only copy' >"$tmp/thesis"
kept 7 "picture over a text file" "--svg '$tmp/thesis': the file is no SVG picture|--force" "$tmp/thesis"
printf '<!DOCTYPE html>\n<html><svg></svg></html>\n' >"$tmp/page.html"
kept 7 "picture over an HTML page" "no SVG picture" "$tmp/page.html"
printf '<?xml version="1.0"?><!-- <svg> -->\n<svgs/>' >"$tmp/other.xml"
kept 7 "picture over a different XML document" "no SVG picture" "$tmp/other.xml"
printf '<?xml' >"$tmp/cut.xml"
kept 7 "picture over a truncated XML document" "no SVG picture" "$tmp/cut.xml"
ok 0 "--force replaces a text file" map --svg "$tmp/thesis" --force
holds "the text file is a picture now" grep -q '^<svg' "$tmp/thesis"
for text in '<svg/>' '<svg>' '<svg xmlns="http://www.w3.org/2000/svg">' '\357\273\277 \n<svg\n>' \
  '<?xml version="1.0"?>\n<!-- made\nby hand -->\n<!DOCTYPE svg PUBLIC "a>b" "c" [ <!ENTITY d "e>f"> ]>\n<svg/>' ''; do
  # shellcheck disable=SC2059
  printf "$text" >"$tmp/picture"
  ok 0 "an existing picture is replaced: $text" map --svg "$tmp/picture"
  holds "the new picture is complete: $text" grep -q 'All\|all slices' "$tmp/picture"
done
(umask 027 && quoit map --svg "$tmp/mode.svg") >/dev/null
holds "the umask determines the mode of the picture" test "$(ls -l "$tmp/mode.svg" | cut -c 1-10)" = -rw-r-----
holds "no temporary files remain" test -z "$(find "$tmp" -name '*svg.*' -o -name '.*' -type f)"

# --- directories and devices
mkdir "$tmp/folder"
kept 7 "picture over a folder" "a folder" "$tmp/folder" --force
kept 7 "picture to a device" "a device|expected a file or a pipe" /dev/null --force
mkfifo "$tmp/pipe"
cat "$tmp/pipe" >"$tmp/piped" &
ok 0 "map --svg writes to a pipe" map --svg "$tmp/pipe"
wait $!
holds "the pipe receives the picture" grep -q '^</svg>' "$tmp/piped"
holds "the pipe is not replaced" test -p "$tmp/pipe"
quoit map --svg /dev/stdout 2>&1 | cat >"$tmp/both"
holds "map --svg writes to standard output" grep -q '^</svg>' "$tmp/both"
holds "the text follows the picture on standard output" test "$(sed -n '$p' "$tmp/both" | cut -c 1)" = '#'
quoit map --svg /dev/stdout >"$tmp/both.txt"
holds "a file as standard output receives picture and text" cmp "$tmp/both" "$tmp/both.txt"
quoit map --svg /dev/fd/7 7>"$tmp/seven" >/dev/null
holds "map --svg writes to a descriptor" grep -q '^</svg>' "$tmp/seven"
quoit map --svg /dev/fd/7 7<>"$QUOIT_DB" >/dev/null 2>&1
holds "no picture is written to a descriptor of the ledger" is_ledger

# --- the option alone
refused 2 "--force without --svg" "--force" map --force
refused 2 "empty file name of --svg" "--svg ''" map --svg ''

# --- backups
echo 'pages of another database' >"$tmp/copy-wal"
refused 7 "backup with a stale -wal of an earlier database" "$tmp/copy-wal: left over from an earlier database" backup "$tmp/copy"
holds "a refused backup creates no file" test ! -e "$tmp/copy"
rm "$tmp/copy-wal"
for tail in wal shm journal head; do
  refused 7 "backup with the name of a -$tail file" "$tmp/backup-$tail: a name that belongs to" backup "$tmp/backup-$tail"
  holds "a refused backup creates no -$tail" test ! -e "$tmp/backup-$tail"
done
rm -f "$tmp/link"
ln -s "$tmp/elsewhere" "$tmp/link"
refused 7 "backup through a symbolic link" "$tmp/link" backup "$tmp/link"
holds "a refused backup does not create the target of the link" test ! -e "$tmp/elsewhere"

# --- a restore changes only the database
quoit backup "$QUOIT_DB-restore" >/dev/null
sum=$(cksum <"$QUOIT_DB-restore")
echo 'the only copy' >"$QUOIT_DB-restore-wal.txt"
ok 0 "restore to a name that ends in -restore succeeds" restore "$QUOIT_DB-restore" --now "$now"
holds "the restored file is unchanged" test "$(cksum <"$QUOIT_DB-restore" 2>&1)" = "$sum"
holds "restore leaves no temporary files" test "$(find "$tmp" -name 'quoit.db?restore*' | wc -l)" = 2
finish
