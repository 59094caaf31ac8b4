/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite/head.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "store/sqlite/path.h"

/* The file is an array of 64 records: 32 heads, 24 retired pairs, one record about the database file, and unused ones.
 * Each record is written by one call. The heads of consecutive entries have different records, so that two processes
 * whose writes overlap do not overwrite the newer head with the older one. */
enum {
  N_HEADS = 32,
  N_RETIRED = 24,
  FIRST_RETIRED_INDEX = N_HEADS,
  FILE_RECORD_INDEX = FIRST_RETIRED_INDEX + N_RETIRED,
  N_RECORDS = 64
};

typedef enum { RECORD_HEAD = 1, RECORD_RETIRED, RECORD_FILE, RECORD_WRITING } RecordKind;

typedef struct {
  guint32 magic, kind;                   /* kind: RecordKind */
  guint8 identity[QUOIT_IDENTITY_BYTES]; /* HEAD: of the ledger; FILE: the boot in which it was written */
  union {
    struct {
      guint64 seq, epoch_and_boot, chain, uptime_ms, next_group_id, reserved[7];
    } head;
    struct {
      guint64 pair, reserved[11];
    } retired;
    struct {
      guint64 size, mtime_ns, ctime_ns, epoch, seq, chain, reserved[6];
    } file;
  };
  guint64 checksum; /* of all members before it */
} Record;
G_STATIC_ASSERT (sizeof (Record) == 128);

#define MAGIC 0x51484432u
#define UNSYNCED (G_GUINT64_CONSTANT (1) << 31)
#define BOOT_MASK (UNSYNCED - 1)

static guint64
record_checksum (const Record *record)
{
  const guint8 *bytes = (const guint8 *) record;
  guint64 hash = G_GUINT64_CONSTANT (0xcbf29ce484222325);

  for (gsize i = 0; i < G_STRUCT_OFFSET (Record, checksum); i++)
    hash = (hash ^ bytes[i]) * G_GUINT64_CONSTANT (0x100000001b3);
  return hash;
}

static char *
head_name (const char *path)
{
  return g_strconcat (path, "-head", NULL);
}

gboolean
quoit_head_check_access (const char *path, GError **error)
{
  g_autofree char *name = head_name (path);
  gboolean can_write = access (path, W_OK) == 0;
  int fd = quoit_path_open (name, (can_write ? O_RDWR : O_RDONLY) | O_NOFOLLOW | O_NONBLOCK, 0);
  struct stat database;

  if (fd < 0 && (errno == EACCES || errno == EPERM))
    return quoit_fail_at (error, QUOIT_ERROR_STORE, path,
                          "its -head file is not %s for you: give it the mode and the group of the database",
                          can_write ? "readable and writable" : "readable");
  if (fd < 0)
    return TRUE;
  if (can_write && stat (path, &database) == 0)
    quoit_path_copy_owner (fd, &database, 0);
  close (fd);
  return TRUE;
}

/* Opens the head file. If it does not exist and @database is not NULL, creates it with the mode and the owner of the
 * database. */
static int
open_to_write (const char *path, const struct stat *database)
{
  g_autofree char *name = head_name (path);
  int fd = quoit_path_open (name, O_WRONLY | O_NOFOLLOW, 0);

  if (fd >= 0 || database == NULL)
    return fd;
  fd = quoit_path_open (name, O_WRONLY | O_CREAT | O_NOFOLLOW, database->st_mode & 0777);
  if (fd >= 0)
    quoit_path_copy_owner (fd, database, 0);
  return fd;
}

int
quoit_head_open (const char *path)
{
  struct stat database;
  int fd = open_to_write (path, NULL);

  return fd < 0 && stat (path, &database) == 0 ? open_to_write (path, &database) : fd;
}

static gboolean
write_record (int fd, guint place, Record record)
{
  record.magic = MAGIC;
  record.checksum = record_checksum (&record);
  return pwrite (fd, &record, sizeof record, (off_t) (place * sizeof record)) == (gssize) sizeof record;
}

static gboolean
open_and_write_record (const char *path, guint place, Record record)
{
  int fd = quoit_head_open (path);
  gboolean is_written = fd >= 0 && write_record (fd, place, record);

  if (fd >= 0)
    close (fd);
  return is_written;
}

/* Invalid records are read as zeros. Returns FALSE if nothing was read; errno is 0 if the file is empty. */
static gboolean
read_records (const char *path, Record *records)
{
  g_autofree char *name = head_name (path);
  int fd = quoit_path_open (name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0), failure;
  gssize n = -1;

  memset (records, 0, N_RECORDS * sizeof *records);
  if (fd < 0)
    return FALSE;
  n = pread (fd, records, N_RECORDS * sizeof *records, 0);
  failure = n < 0 ? errno : 0;
  close (fd);
  for (guint i = 0; i < N_RECORDS; i++)
    if ((gssize) ((i + 1) * sizeof *records) > n || records[i].magic != MAGIC
        || records[i].checksum != record_checksum (&records[i]))
      memset (&records[i], 0, sizeof records[i]);
  errno = failure;
  return n > 0;
}

/* --- time --- */

/* Returns a number that identifies the current boot, or 0 if it is unknown. */
static guint64
current_boot (void)
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
quoit_head_uptime_ms (void)
{
  return g_get_monotonic_time () / 1000;
}

/* --- heads --- */

guint64
quoit_head_chain_prefix (const guint8 *chain)
{
  guint64 first;

  memcpy (&first, chain, sizeof first);
  return GUINT64_FROM_BE (first);
}

void
quoit_head_write (int fd, const QuoitHead *head)
{
  Record record = { .kind = RECORD_HEAD,
                    .head = { .seq = head->seq,
                              .epoch_and_boot = (guint64) head->epoch << 32 | (head->unsynced ? UNSYNCED : 0)
                                                | (current_boot () & BOOT_MASK),
                              .chain = head->chain,
                              .uptime_ms = (guint64) head->uptime_ms,
                              .next_group_id = head->next_group_id } };

  memcpy (record.identity, head->identity, sizeof record.identity);
  write_record (fd, (guint) (head->seq % N_HEADS), record);
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
      guint32 epoch = (guint32) (record->head.epoch_and_boot >> 32);
      gboolean is_this_boot
          = current_boot () != 0 && (record->head.epoch_and_boot & BOOT_MASK) == (current_boot () & BOOT_MASK);

      if (record->kind != RECORD_HEAD || memcmp (record->identity, identity, QUOIT_IDENTITY_BYTES) != 0
          || ((record->head.epoch_and_boot & UNSYNCED) != 0 && !is_this_boot)
          || (found && (epoch < head->epoch || (epoch == head->epoch && record->head.seq < head->seq))))
        continue;
      *head = (QuoitHead) {
        .epoch = epoch,
        .seq = record->head.seq,
        .chain = record->head.chain,
        .uptime_ms = (gint64) record->head.uptime_ms,
        .next_group_id = record->head.next_group_id,
        .unsynced = (record->head.epoch_and_boot & UNSYNCED) != 0,
      };
      memcpy (head->identity, identity, QUOIT_IDENTITY_BYTES);
      *same_boot = is_this_boot;
      found = TRUE;
    }
  return found;
}

/* --- the database file --- */

static guint64
to_ns (const struct timespec *time)
{
  return (guint64) time->tv_sec * 1000000000u + (guint64) time->tv_nsec;
}

/* Describes the current content of the database file by its size and times. The time of the last change of attributes
 * reveals a copy that keeps the time of its content (cp -p). Omits the device and inode numbers, because some file
 * systems change them at each mount. */
static Record
file_record (const struct stat *file, const QuoitFileEntry *entry)
{
  Record record = { .kind = RECORD_FILE,
                    .file = { .size = (guint64) file->st_size,
                              .mtime_ns = to_ns (&file->st_mtim),
                              .ctime_ns = to_ns (&file->st_ctim),
                              .epoch = entry->epoch,
                              .seq = entry->seq,
                              .chain = entry->chain } };
  guint64 now = current_boot ();

  memcpy (record.identity, &now, sizeof now);
  return record;
}

gboolean
quoit_head_record_write_begun (const char *path)
{
  return open_and_write_record (path, FILE_RECORD_INDEX, (Record) { .kind = RECORD_WRITING });
}

void
quoit_head_record_file (const char *path, const struct stat *file, const QuoitFileEntry *entry)
{
  open_and_write_record (path, FILE_RECORD_INDEX, file_record (file, entry));
}

static QuoitLastWriter
compare_file (const Record *recorded, const struct stat *file)
{
  Record now = file_record (file, &(QuoitFileEntry) { 0 });
  gboolean same_boot = memcmp (recorded->identity, now.identity, sizeof now.identity) == 0 && current_boot () != 0;

  if (recorded->kind != RECORD_FILE)
    return recorded->kind == 0 ? QUOIT_WRITER_QUOIT : QUOIT_WRITER_INTERRUPTED;
  if (recorded->file.size == now.file.size && recorded->file.mtime_ns == now.file.mtime_ns)
    return recorded->file.ctime_ns == now.file.ctime_ns ? QUOIT_WRITER_QUOIT : QUOIT_WRITER_UNKNOWN;
  /* After a power loss, the record may be older than the file. */
  return same_boot ? QUOIT_WRITER_OTHER_PROGRAM : QUOIT_WRITER_UNKNOWN;
}

enum { MAX_LOOKS = 16 };

QuoitLastWriter
quoit_head_last_writer (const char *path, QuoitFileEntry *entry)
{
  Record before[N_RECORDS], after[N_RECORDS];
  const Record *recorded = &after[FILE_RECORD_INDEX];
  struct stat file;

  *entry = (QuoitFileEntry) { 0 };
  /* Another process may write to the file, and record that, between the reads of the record and of the file. */
  for (guint look = 0; look < MAX_LOOKS; look++)
    {
      /* Only a missing head file means that nothing is recorded. The process may have no file descriptor left. */
      if (!read_records (path, before) && errno != 0)
        return errno == ENOENT ? QUOIT_WRITER_QUOIT : QUOIT_WRITER_UNKNOWN;
      if (stat (path, &file) != 0)
        return QUOIT_WRITER_UNKNOWN;
      if (!read_records (path, after) && errno != 0)
        return errno == ENOENT ? QUOIT_WRITER_QUOIT : QUOIT_WRITER_UNKNOWN;
      if (memcmp (&before[FILE_RECORD_INDEX], recorded, sizeof *recorded) == 0)
        break;
    }
  if (recorded->kind == RECORD_FILE)
    *entry = (QuoitFileEntry) { (guint32) recorded->file.epoch, recorded->file.seq, recorded->file.chain };
  return compare_file (recorded, &file);
}

/* --- pairs --- */

void
quoit_head_retire (const char *path, guint64 pair)
{
  open_and_write_record (path, FIRST_RETIRED_INDEX + (guint) (pair % N_RETIRED),
                         (Record) { .kind = RECORD_RETIRED, .retired = { .pair = pair } });
}

void
quoit_head_unretire (const char *path, guint64 pair)
{
  if (quoit_head_is_retired (path, pair))
    open_and_write_record (path, FIRST_RETIRED_INDEX + (guint) (pair % N_RETIRED), (Record) { 0 });
}

gboolean
quoit_head_is_retired (const char *path, guint64 pair)
{
  Record records[N_RECORDS];
  const Record *record = &records[FIRST_RETIRED_INDEX + pair % N_RETIRED];

  return read_records (path, records) && record->kind == RECORD_RETIRED && record->retired.pair == pair;
}
