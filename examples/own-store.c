/* SPDX-License-Identifier: Apache-2.0 */
/* own-store FILE COMMAND: a ledger that is stored in a file of this program's own, without a database. The file has a
 * snapshot and the entries after it, each after its length. It is only appended to, and can be used by any number of
 * processes. docs/own-store.md explains the steps.
 *
 *   create FLEET              makes the file, with a fleet such as "v6e 4x4 x8"
 *   reserve NAME TOPOLOGY     reserves a v6e slice; NAME is also the request key, so that a retry is safe
 *   release NAME
 *   work PREFIX TOPOLOGY N    reserves PREFIX-0 to PREFIX-(N-1), and releases every second one
 *   follow SEQ                prints each entry as it is stored, up to entry SEQ
 *   status                    prints the last entry, its link and the groups */
#include <quoit/quoit.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
  const char *path;
  int fd;
  off_t read;          /* the end of the records that the ledger has */
  QuoitLedger *ledger; /* NULL: the snapshot was not read yet */
} Store;

/* Ends the program. The file is in order whenever that happens. */
static void
stop (const char *what, const char *why, int status)
{
  fprintf (stderr, "own-store: %s: %s\n", what, why);
  exit (status);
}

/* Macros, because the call sets the error that is read after it. */
#define require(call, what, error) ((call) ? (void) 0 : stop (what, (error)->message, (error)->code))
#define require_io(call, what) ((call) ? (void) 0 : stop (what, g_strerror (errno), QUOIT_ERROR_STORE))

/* The library reads no clock. */
static int64_t
now_ms (void)
{
  return g_get_real_time () / 1000;
}

/* --- records --- */

/* Returns the next record, or NULL if there is no complete one: a process that was killed can leave a part of one. */
static uint8_t *
read_record (Store *store, size_t *length)
{
  uint64_t header;
  struct stat status;
  uint8_t *bytes;

  require_io (fstat (store->fd, &status) == 0, store->path);
  if (status.st_size - store->read < (off_t) sizeof header
      || pread (store->fd, &header, sizeof header, store->read) != sizeof header)
    return NULL;
  header = GUINT64_FROM_BE (header);
  if (header > (uint64_t) (status.st_size - store->read) - sizeof header)
    return NULL;
  bytes = g_malloc (header + 1);
  require_io (pread (store->fd, bytes, header, store->read + (off_t) sizeof header) == (ssize_t) header, store->path);
  *length = header;
  return bytes;
}

static void
add_record (GByteArray *records, const uint8_t *bytes, size_t length)
{
  uint64_t header = GUINT64_TO_BE ((uint64_t) length);

  g_byte_array_append (records, (const uint8_t *) &header, sizeof header);
  g_byte_array_append (records, bytes, (guint) length);
}

/* --- reading --- */

static void
open_ledger (Store *store, const uint8_t *bytes, size_t length)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitSnapshot) snapshot = quoit_snapshot_from_bytes (bytes, length, &error);

  require (snapshot != NULL, store->path, error);
  store->ledger = quoit_ledger_open_snapshot (snapshot, &error);
  require (store->ledger != NULL, store->path, error);
}

/* Applies what other processes have stored, in one batch. The caller has locked the file. */
static void
read_entries (Store *store)
{
  g_autoptr (GError) error = NULL;
  unsigned n = 0;
  size_t length;
  uint8_t *bytes;

  while ((bytes = read_record (store, &length)) != NULL)
    {
      if (store->ledger == NULL)
        open_ledger (store, bytes, length);
      else
        {
          if (n++ == 0)
            require (quoit_ledger_begin_batch (store->ledger, &error), store->path, error);
          /* An entry of a newer quoit, or a damaged one: this program cannot go on. */
          require (quoit_ledger_apply_entry (store->ledger, bytes, length, &error), store->path, error);
        }
      store->read += (off_t) (sizeof (uint64_t) + length);
      g_free (bytes);
    }
  if (n > 0)
    require (quoit_ledger_commit_batch (store->ledger, &error), store->path, error);
  if (store->ledger == NULL)
    stop (store->path, "it has no complete snapshot", QUOIT_ERROR_DAMAGED);
}

static void
catch_up (Store *store)
{
  require_io (flock (store->fd, LOCK_SH) == 0, store->path);
  read_entries (store);
  require_io (flock (store->fd, LOCK_UN) == 0, store->path);
}

static Store
open_store (const char *path)
{
  Store store = { path, open (path, O_RDWR | O_CLOEXEC), 0, NULL };

  require_io (store.fd >= 0, path);
  catch_up (&store);
  return store;
}

/* --- writing --- */

/* Appends the records if no other process has stored an entry that the ledger lacks. The length of the file is the
 * comparison: it only grows, and the ledger has all records up to store->read. Returns FALSE if another process was
 * faster. */
static bool
append (Store *store, const GByteArray *records)
{
  bool is_last;

  require_io (flock (store->fd, LOCK_EX) == 0, store->path);
  {
    size_t length;
    g_autofree uint8_t *next = read_record (store, &length);

    is_last = next == NULL;
  }
  if (is_last && records->len > 0)
    {
      /* Behind the last complete record there can be a part of one that was never acknowledged. If the disk fails, it
       * is unknown what is stored: the next start of the program will see. */
      require_io (ftruncate (store->fd, store->read) == 0, store->path);
      require_io (pwrite (store->fd, records->data, records->len, store->read) == (ssize_t) records->len, store->path);
      require_io (fdatasync (store->fd) == 0, store->path);
      store->read += records->len;
    }
  require_io (flock (store->fd, LOCK_UN) == 0, store->path);
  return is_last;
}

/* One change. Returns whether it was made; a refusal sets @error. */
typedef bool (*Change) (QuoitLedger *ledger, const char *name, const char *topology, char **handle, GError **error);

/* Returns the entries of the open batch as records. */
static GByteArray *
batch_records (Store *store)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitJournal) batch = quoit_ledger_read_batch (store->ledger, &error);
  GByteArray *records = g_byte_array_new ();

  require (batch != NULL, store->path, error);
  for (uint32_t i = 0; i < quoit_journal_get_n_entries (batch); i++)
    {
      size_t length;
      g_autofree uint8_t *bytes = quoit_journal_dup_entry (batch, i, &length, &error);

      require (bytes != NULL, store->path, error);
      add_record (records, bytes, length);
    }
  return records;
}

/* Decides the change, stores its entries, and only then makes it visible and returns. A refusal has no entries, and
 * counts only if the ledger has all that is stored. */
static bool
make_change (Store *store, Change change, const char *name, const char *topology, char **handle, GError **error)
{
  for (;;)
    {
      g_autoptr (GError) failure = NULL;
      g_autoptr (GByteArray) records = NULL;
      bool done;

      require (quoit_ledger_begin_batch (store->ledger, &failure), store->path, failure);
      done = change (store->ledger, name, topology, handle, &failure);
      records = batch_records (store);
      if (append (store, records))
        {
          g_autoptr (GError) impossible = NULL;

          require (quoit_ledger_commit_batch (store->ledger, &impossible), store->path, impossible);
          if (failure != NULL)
            g_propagate_error (error, g_steal_pointer (&failure));
          return done;
        }
      /* Another process was faster: forget the decision, read its entries, and decide again. */
      quoit_ledger_cancel_batch (store->ledger);
      g_clear_pointer (handle, g_free);
      catch_up (store);
    }
}

/* --- changes --- */

static bool
reserve (QuoitLedger *ledger, const char *name, const char *topology, char **handle, GError **error)
{
  g_autoptr (QuoitRequest) request = quoit_request_new (name, error);
  g_autoptr (QuoitGroup) group = NULL;

  if (request == NULL || !quoit_request_set_key (request, name, error)
      || !quoit_request_set_accelerator (request, "v6e", error)
      || !quoit_request_set_topology (request, topology, error) || !quoit_request_set_slices (request, 1, error))
    return false;
  group = quoit_ledger_reserve (ledger, request, now_ms (), NULL, error);
  if (group == NULL)
    return false;
  *handle = g_strdup (quoit_group_get_handle (group));
  return true;
}

static bool
release (QuoitLedger *ledger, const char *name, const char *topology, char **handle, GError **error)
{
  *handle = g_strdup (name);
  return quoit_ledger_release (ledger, name, now_ms (), error);
}

/* Makes the change, and prints it for the caller of this program. */
static void
make_and_tell (Store *store, Change change, const char *name, const char *topology)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *handle = NULL;

  require (make_change (store, change, name, topology, &handle, &error), name, error);
  printf ("%s %s\n", change == reserve ? "reserved" : "released", handle);
  fflush (stdout);
}

static void
work (Store *store, const char *prefix, const char *topology, unsigned n)
{
  for (unsigned i = 0; i < n; i++)
    {
      g_autofree char *name = g_strdup_printf ("%s-%u", prefix, i);

      make_and_tell (store, reserve, name, topology);
      if (i % 2 == 1)
        make_and_tell (store, release, name, topology);
    }
}

/* --- other commands --- */

/* Writes the whole file under another name first, so that no process finds a part of it. */
static void
create (const char *path, const char *fleet)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_snapshot (NULL, &error);
  g_autoptr (QuoitInput) input = quoit_input_new (QUOIT_SOURCE_KIND_FLEET, fleet, strlen (fleet));
  g_autoptr (QuoitImport) import = NULL;
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (GByteArray) records = g_byte_array_new ();
  g_autofree char *new_path = g_strdup_printf ("%s.new-%d", path, (int) getpid ()), *folder = g_path_get_dirname (path);
  g_autofree uint8_t *bytes = NULL;
  size_t length;
  int fd;

  require (ledger != NULL, path, error);
  import = quoit_ledger_import (ledger, input, now_ms (), &error);
  require (import != NULL, "fleet", error);
  snapshot = quoit_ledger_snapshot (ledger);
  bytes = quoit_snapshot_dup_bytes (snapshot, &length);
  add_record (records, bytes, length);
  fd = open (new_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  require_io (fd >= 0 && write (fd, records->data, records->len) == (ssize_t) records->len && fsync (fd) == 0,
              new_path);
  close (fd);
  if (link (new_path, path) != 0)
    {
      int why = errno;

      unlink (new_path);
      stop (path, g_strerror (why), QUOIT_ERROR_CONFLICT);
    }
  unlink (new_path);
  fd = open (folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  require_io (fd >= 0 && fsync (fd) == 0, folder);
  close (fd);
}

static void
print_entries (const QuoitJournal *journal)
{
  for (uint32_t i = 0; i < quoit_journal_get_n_entries (journal); i++)
    {
      g_autofree char *link = quoit_journal_dup_link (journal, i);

      printf ("%" G_GUINT64_FORMAT " %s %s %s@%" G_GUINT64_FORMAT "\n", quoit_journal_get_seq (journal, i), link,
              quoit_journal_get_verb (journal, i), quoit_journal_get_effect_group_name (journal, i, 0),
              quoit_journal_get_effect_group_id (journal, i, 0));
    }
  fflush (stdout);
}

/* Prints the entries after the snapshot of the file, as they come. */
static void
follow (Store *store, uint64_t last)
{
  g_autoptr (GError) error = NULL;
  uint64_t seq;

  require (quoit_ledger_read_checkpoint (store->ledger, &seq, NULL, &error), store->path, error);
  while (seq < last)
    {
      g_autoptr (QuoitJournal) journal = NULL;
      uint32_t n;

      catch_up (store);
      journal = quoit_ledger_read_journal (store->ledger, seq, &error);
      require (journal != NULL, store->path, error);
      print_entries (journal);
      n = quoit_journal_get_n_entries (journal);
      if (n > 0)
        seq = quoit_journal_get_seq (journal, n - 1);
      else
        g_usleep (2000); /* a store of your own may have something to wait for */
    }
}

static void
print_status (Store *store)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (store->ledger);
  g_autofree char *link = quoit_snapshot_dup_link (snapshot);
  g_autoptr (GError) error = NULL;

  require (quoit_ledger_verify (store->ledger, &error), store->path, error);
  printf ("%" G_GUINT64_FORMAT " %s\n", quoit_snapshot_get_seq (snapshot), link);
  for (uint32_t g = 0; g < quoit_snapshot_get_n_groups (snapshot); g++)
    {
      g_autoptr (QuoitGroup) group = quoit_snapshot_dup_group (snapshot, g);

      if (quoit_group_get_state (group) == QUOIT_GROUP_RESERVED)
        printf ("%s\n", quoit_group_get_handle (group));
    }
}

static bool
run (Store *store, int n, char **words)
{
  if (n == 3 && strcmp (words[0], "reserve") == 0)
    make_and_tell (store, reserve, words[1], words[2]);
  else if (n == 2 && strcmp (words[0], "release") == 0)
    make_and_tell (store, release, words[1], NULL);
  else if (n == 4 && strcmp (words[0], "work") == 0)
    work (store, words[1], words[2], (unsigned) strtoul (words[3], NULL, 10));
  else if (n == 2 && strcmp (words[0], "follow") == 0)
    follow (store, strtoull (words[1], NULL, 10));
  else if (n == 1 && strcmp (words[0], "status") == 0)
    print_status (store);
  else
    return false;
  return true;
}

int
main (int argc, char **argv)
{
  bool known = false;

  if (argc == 4 && strcmp (argv[2], "create") == 0)
    return create (argv[1], argv[3]), 0;
  if (argc > 2)
    {
      Store store = open_store (argv[1]);

      known = run (&store, argc - 2, argv + 2);
      quoit_ledger_unref (store.ledger);
      close (store.fd);
    }
  if (!known)
    fprintf (stderr, "usage: own-store FILE create FLEET | reserve NAME TOPOLOGY | release NAME | "
                     "work PREFIX TOPOLOGY N | follow SEQ | status\n");
  return known ? 0 : QUOIT_ERROR_USAGE;
}
