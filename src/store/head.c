/* SPDX-License-Identifier: Apache-2.0 */
#include "store/head.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/place.h"

/* The file has two pages of records, and each record is written by one call. Consecutive entries use different
 * places, so that the later one of two processes' heads survives in any order of writing. */
enum { N_HEADS = 32, N_RETIRED = 24, FIRST_RETIRED = N_HEADS, FILE_NOTE = FIRST_RETIRED + N_RETIRED, N_RECORDS = 64 };

typedef enum { RECORD_HEAD = 1, RECORD_RETIRED, RECORD_FILE, RECORD_WRITING } RecordKind;

typedef struct {
  guint32 magic, kind;
  guint8 identity[QUOIT_IDENTITY_BYTES];
  guint64 a, b, c, d, e;
  guint64 reserved[7];
  guint64 checksum; /* of all members before it */
} Record;
G_STATIC_ASSERT (sizeof (Record) == 128);

#define MAGIC 0x51484432u
#define UNSYNCED (G_GUINT64_CONSTANT (1) << 31)
#define BOOT_MASK (UNSYNCED - 1)

static guint64
checksum_of (const Record *record)
{
  const guint8 *bytes = (const guint8 *) record;
  guint64 hash = G_GUINT64_CONSTANT (0xcbf29ce484222325);

  for (gsize i = 0; i < G_STRUCT_OFFSET (Record, checksum); i++)
    hash = (hash ^ bytes[i]) * G_GUINT64_CONSTANT (0x100000001b3);
  return hash;
}

static char *
name_of (const char *path)
{
  return g_strconcat (path, "-head", NULL);
}

/* Creates the head file with the mode and the owner of the database, @of. */
static int
open_to_write (const char *path, const struct stat *of)
{
  g_autofree char *name = name_of (path);
  int fd = quoit_place_open (name, O_WRONLY | O_NOFOLLOW, 0);

  if (fd >= 0 || of == NULL)
    return fd;
  fd = quoit_place_open (name, O_WRONLY | O_CREAT | O_NOFOLLOW, of->st_mode & 0777);
  if (fd >= 0
      && (fchmod (fd, of->st_mode & 0777) != 0 || (geteuid () == 0 && fchown (fd, of->st_uid, of->st_gid) != 0)))
    return fd; /* other users may then be unable to write it, and do without */
  return fd;
}

static void
write_record (const char *path, guint place, Record record)
{
  struct stat database;
  int fd = open_to_write (path, NULL);

  if (fd < 0 && stat (path, &database) == 0)
    fd = open_to_write (path, &database);
  if (fd < 0)
    return;
  record.magic = MAGIC;
  record.checksum = checksum_of (&record);
  if (pwrite (fd, &record, sizeof record, (off_t) (place * sizeof record)) != (gssize) sizeof record)
    {
      close (fd);
      return;
    }
  close (fd);
}

/* Invalid records are read as zeros. */
static gboolean
read_records (const char *path, Record *records)
{
  g_autofree char *name = name_of (path);
  int fd = quoit_place_open (name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
  gssize n = -1;

  memset (records, 0, N_RECORDS * sizeof *records);
  if (fd < 0)
    return FALSE;
  n = pread (fd, records, N_RECORDS * sizeof *records, 0);
  close (fd);
  for (guint i = 0; i < N_RECORDS; i++)
    if ((gssize) ((i + 1) * sizeof *records) > n || records[i].magic != MAGIC
        || records[i].checksum != checksum_of (&records[i]))
      memset (&records[i], 0, sizeof records[i]);
  return n > 0;
}

/* --- time --- */

/* Returns a number that identifies the current boot, or 0 if it is unknown. */
static guint64
boot (void)
{
  static gsize once;

  if (g_once_init_enter (&once))
    {
      g_autofree char *text = NULL;
      guint64 hash = 0;

      if (g_file_get_contents ("/proc/sys/kernel/random/boot_id", &text, NULL, NULL))
        for (const char *c = text; *c != '\0'; c++)
          hash = hash * 131 + (guchar) *c;
      g_once_init_leave (&once, (gsize) ((hash & BOOT_MASK) + 1));
    }
  return once - 1;
}

gint64
quoit_head_up_ms (void)
{
  return g_get_monotonic_time () / 1000;
}

/* --- heads --- */

guint64
quoit_head_chain (const guint8 *chain)
{
  guint64 first;

  memcpy (&first, chain, sizeof first);
  return GUINT64_FROM_BE (first);
}

void
quoit_head_write (const char *path, const QuoitHead *head)
{
  Record record
      = { .kind = RECORD_HEAD, .a = head->seq, .c = head->chain, .d = (guint64) head->up_ms, .e = head->next_group_id };

  memcpy (record.identity, head->identity, sizeof record.identity);
  record.b = (guint64) head->epoch << 32 | (head->unsynced ? UNSYNCED : 0) | (boot () & BOOT_MASK);
  write_record (path, (guint) (head->seq % N_HEADS), record);
}

gboolean
quoit_head_read (const char *path, const guint8 *identity, QuoitHead *head, gboolean *same_boot)
{
  Record records[N_RECORDS];
  gboolean found = FALSE;

  if (!read_records (path, records))
    return FALSE;
  for (guint i = 0; i < N_HEADS; i++)
    {
      const Record *record = &records[i];
      guint32 epoch = (guint32) (record->b >> 32);
      gboolean is_now = boot () != 0 && (record->b & BOOT_MASK) == (boot () & BOOT_MASK);

      if (record->kind != RECORD_HEAD || memcmp (record->identity, identity, QUOIT_IDENTITY_BYTES) != 0
          || ((record->b & UNSYNCED) != 0 && !is_now)
          || (found && (epoch < head->epoch || (epoch == head->epoch && record->a < head->seq))))
        continue;
      *head = (QuoitHead) {
        .epoch = epoch,
        .seq = record->a,
        .chain = record->c,
        .up_ms = (gint64) record->d,
        .next_group_id = record->e,
        .unsynced = (record->b & UNSYNCED) != 0,
      };
      memcpy (head->identity, identity, QUOIT_IDENTITY_BYTES);
      *same_boot = is_now;
      found = TRUE;
    }
  return found;
}

/* --- the database file --- */

/* The note omits the device and inode numbers, because some file systems change them at each mount. */
static Record
note_of (const struct stat *file)
{
  Record note = { .kind = RECORD_FILE,
                  .a = (guint64) file->st_size,
                  .b = (guint64) file->st_mtim.tv_sec * 1000000000u + (guint64) file->st_mtim.tv_nsec };
  guint64 now = boot ();

  memcpy (note.identity, &now, sizeof now);
  return note;
}

void
quoit_head_note_writing (const char *path)
{
  write_record (path, FILE_NOTE, (Record) { .kind = RECORD_WRITING });
}

void
quoit_head_note_written (const char *path, int fd)
{
  struct stat now;

  if (fstat (fd, &now) == 0)
    write_record (path, FILE_NOTE, note_of (&now));
}

QuoitFileWriter
quoit_head_last_writer (const char *path)
{
  Record records[N_RECORDS], now;
  const Record *noted = &records[FILE_NOTE];
  struct stat file;

  if (!read_records (path, records) || noted->kind == 0 || stat (path, &file) != 0)
    return QUOIT_FILE_OURS;
  now = note_of (&file);
  if (noted->kind == RECORD_FILE && noted->a == now.a && noted->b == now.b)
    return QUOIT_FILE_OURS;
  /* After a power loss, the note may be older than the file. */
  return noted->kind != RECORD_FILE || memcmp (noted->identity, now.identity, sizeof now.identity) != 0 || boot () == 0
             ? QUOIT_FILE_UNKNOWN
             : QUOIT_FILE_FOREIGN;
}

/* --- pairs --- */

void
quoit_head_retire (const char *path, guint64 pair)
{
  write_record (path, FIRST_RETIRED + (guint) (pair % N_RETIRED), (Record) { .kind = RECORD_RETIRED, .a = pair });
}

void
quoit_head_use (const char *path, guint64 pair)
{
  if (quoit_head_is_retired (path, pair))
    write_record (path, FIRST_RETIRED + (guint) (pair % N_RETIRED), (Record) { 0 });
}

gboolean
quoit_head_is_retired (const char *path, guint64 pair)
{
  Record records[N_RECORDS];
  const Record *record = &records[FIRST_RETIRED + pair % N_RETIRED];

  return read_records (path, records) && record->kind == RECORD_RETIRED && record->a == pair;
}
