/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * columns.h - the catalogue of columns: every word that may be the header of a column of a result, or
 * the name of a value of its head.
 *
 * The catalogue says once for each column: its word, the type of its cells, what its rows are
 * called, how readily it is hidden in narrow windows, how its cells are clipped, and what it means.  A
 * command declares by shapes (struct shape) which columns its results have.  Help, completion, the
 * manual, the JSON schema and the printers read the same shapes.
 */
#ifndef CAIRN_RESULT_COLUMNS_H
#define CAIRN_RESULT_COLUMNS_H

#include <stdbool.h>

enum cell_type {
	CELL_NONE,    /* unknown ("?") or, when exact, does not apply (""); empty in csv, null in
	                 json */
	CELL_TEXT,    /* escaped UTF-8 */
	CELL_COUNT,   /* a number of things */
	CELL_BYTES,   /* a number of bytes; "2.9M" on the screen, plain in machine formats */
	CELL_PERCENT, /* tenths of a percent; "36.8%" on the screen, 36.8 in machine formats */
	CELL_ADDRESS, /* 0x… */
	CELL_FLAG,    /* yes/no; true/false in json */
	CELL_TIME,    /* nanoseconds since 1970; a date and time (UTC) for people, plain in machine formats */
	CELL_DELTA,   /* by how many things it changed: "+12", "-1,234"; -1234 in machine formats */
	CELL_BYTES_DELTA, /* by how many bytes it changed: "+2.9M" */
	CELL_NUMBER,  /* a number that the dump holds, in the digits of its language: "-42", "1.0E10"; a
	                 number in json as well, unless that has no such number (NaN) */
};

/* In alphabetical order.  A word for cells of two types has an id for each type. */
enum column_id {
	COL_OWN_NAME, /* in a head a value, in a table a column, under a name of the dump's own */
	COL_ACCUMULATED,
	COL_ACCUMULATED_CLASS,
	COL_ACCUMULATED_IN,
	COL_ADDRESS,
	COL_ADDS,
	COL_ALLOCS,
	COL_ARCHIVED_MIRRORS,
	COL_ARGUMENT,
	COL_ARRAYS,
	COL_BAR,
	COL_BOOT,
	COL_BRANCH,
	COL_BYTE_ORDER,
	COL_BYTES,
	COL_CANNOT_TELL,
	COL_CAPACITY, COL_CAPACITY_BYTES,
	COL_CAUSE,
	COL_CAUSE_DATE, COL_CAUSE_THREAD,
	COL_CERTAINTY,
	COL_CHECK,
	COL_CHILDREN,
	COL_CLASS,
	COL_CLASS_ADDRESS,
	COL_CLASSES,
	COL_COLUMN,
	COL_COLUMNS,
	COL_COMMAND,
	COL_COMMAND_LINE,
	COL_COMPANION,
	COL_CONTAINER,
	COL_CONTENTS,
	COL_COUNT,
	COL_COURSE,
	COL_CPUS,
	COL_CREATED,
	COL_CREATED_BY,
	COL_CYCLE,
	COL_D_OBJECTS,
	COL_D_RETAINED,
	COL_D_SHALLOW,
	COL_DAEMON,
	COL_DAMAGE,
	COL_DANGLING,
	COL_DANGLING_MIRRORS,
	COL_DECLARED_IN,
	COL_DEPTH,
	COL_DESCRIPTION,
	COL_DETAIL,
	COL_DIRECTION,
	COL_DOMINATOR,
	COL_DROPPED_ROOTS,
	COL_EMPTY,
	COL_EXPERIMENTS,
	COL_EXPRESSION,
	COL_FIELD,
	COL_FILE,
	COL_FILE_SIZE,
	COL_FILL, COL_FILL_WORDS,
	COL_FINALIZER,
	COL_FIRST,
	COL_FIRST_SEEN,
	COL_FOLDED,
	COL_FORMAT,
	COL_FRAME,
	COL_FRAME_NUMBER,
	COL_FRAMES,
	COL_FREED,
	COL_FREES,
	COL_FUNCTION,
	COL_GC,
	COL_GC_POLICY,
	COL_GREW,
	COL_HARD,
	COL_HASH,
	COL_HEAP, COL_HEAP_NAME,
	COL_HEAP_END,
	COL_HEAP_MAX,
	COL_HEAP_NAMES,
	COL_HEAP_START,
	COL_HEAP_TOTAL,
	COL_HEAP_USED,
	COL_HEAPS,
	COL_HELD,
	COL_HELD_AS,
	COL_HELD_SHALLOW,
	COL_HEX,
	COL_HIDDEN,
	COL_HOLDER,
	COL_HOLDER_KIND,
	COL_HOLDS,
	COL_HOLDS_WORDS,
	COL_HOLES,
	COL_HOST,
	COL_ID,
	COL_INDEX,
	COL_INDEX_ALONE, COL_INDEX_FILE, COL_INDEX_PACKED,
	COL_INSTANCE_SIZE,
	COL_INSTANCES,
	COL_INSTANCES_SHALLOW,
	COL_JAVA_VERSION,
	COL_KEY,
	COL_KEY_ADDRESS,
	COL_KEY_CLASS,
	COL_KIND,
	COL_LAST_SEEN,
	COL_LEAVES_OUT,
	COL_LENGTH,
	COL_LIMIT,
	COL_LINE,
	COL_LOADER,
	COL_LOADER_CLASS,
	COL_MAIN,
	COL_MEANING,
	COL_MEASURED_CLASSES,
	COL_MEMORY,
	COL_METHOD,
	COL_MILLISECONDS,
	COL_NAME,
	COL_NAME_RETAINED,
	COL_NAME_SHARE,
	COL_NATIVE_ID,
	COL_NUMBER,
	COL_NUMBER_VALUE,
	COL_OBJECT,
	COL_OBJECT_ARRAYS,
	COL_OBJECT_SIZE,
	COL_OBJECTS,
	COL_OBJECTS_BELOW,
	COL_OFFSET,
	COL_OK,
	COL_ONLY_THROUGH,
	COL_OOM, COL_OOM_KIND, COL_OOM_THREAD, COL_OOM_THROWN,
	COL_OS,
	COL_OTHERS,
	COL_OUTSIDE_ROOTS,
	COL_OWNER,
	COL_PACKAGE,
	COL_PARENT,
	COL_PART,
	COL_PATH,
	COL_PATH_NUMBER,
	COL_PAUSE_LAST,
	COL_PAUSE_LONGEST,
	COL_PID,
	COL_PLOT,
	COL_PRIMITIVE_ARRAYS,
	COL_PRIORITY,
	COL_PROCESS_ID,
	COL_PROGRAM,
	COL_RATE,
	COL_REACHABLE,
	COL_REACHABLE_OBJECTS,
	COL_REACHABLE_SHALLOW,
	COL_REACHED,
	COL_REFERENCE, COL_REFERENCE_BYTES,
	COL_REFERENCES,
	COL_REFERENTS,
	COL_REMEDY,
	COL_RESERVED,
	COL_RESULT,
	COL_RETAINED,
	COL_RETAINED_OBJECTS,
	COL_ROOT,
	COL_ROOT_ENTRIES,
	COL_ROOTS,
	COL_ROWS,
	COL_SECONDS,
	COL_SECTION,
	COL_SENTENCE,
	COL_SET,
	COL_SHALLOW,
	COL_SHALLOW_BELOW,
	COL_SHARE,
	COL_SHOWN,
	COL_SIGNAL,
	COL_SITE,
	COL_SIZE,
	COL_SIZE_MODEL,
	COL_SIZES,
	COL_SLOPE,
	COL_SLOT,
	COL_SOFT,
	COL_SQL_TYPE,
	COL_STACK,
	COL_STARTED,
	COL_STATE,
	COL_STEADY,
	COL_STEP,
	COL_SUBCLASSES,
	COL_SUPERCLASS,
	COL_SYSTEM,
	COL_TABLE,
	COL_TAG,
	COL_TARGET,
	COL_TARGET_CLASS,
	COL_TEXT,
	COL_THREAD,
	COL_THREADS,
	COL_THROUGH,
	COL_TID,
	COL_TIMES,
	COL_TOOL,
	COL_TOTAL,
	COL_TRUE_UP_TO,
	COL_TYPE,
	COL_TYPE_CONFLICTS,
	COL_TYPED_BY,
	COL_TYPED_OBJECTS,
	COL_TYPED_SHALLOW,
	COL_UNKNOWN_SIZES,
	COL_UNREACHABLE_OBJECTS,
	COL_UNREACHABLE_SHALLOW,
	COL_UNSURE_CLASSES,
	COL_UPTIME, COL_UPTIME_OF_PROCESS,
	COL_USER,
	COL_VALUE,
	COL_VALUE_ADDRESS,
	COL_VALUE_CLASS,
	COL_VARIABLE,
	COL_VARIABLE_VALUE,
	COL_VERSION,
	COL_VM,
	COL_VM_VERSION,
	COL_WAITED,
	COL_WAITERS,
	COL_WAITING,
	COL_WAITS_FOR,
	COL_WANTED,
	COL_WARNING_TEXT,
	COL_WARNINGS,
	COL_WASTED,
	COL_WEAKLY_REACHABLE_OBJECTS,
	COL_WEAKLY_REACHABLE_SHALLOW,
	COL_WHAT,
	COL_WHY,
	COL_WITH_LOCALS,
	COL_WITH_PARTS,
	COL_WORD,
	COL_WORD_BITS,
	COL_COUNT_OF_ALL /* how many there are */
};

/* Where a text is clipped if it is too wide. */
enum column_clip {
	CLIP_END,
	CLIP_MIDDLE, /* for names of classes, whose ends say most */
};

struct column_kind {
	const char *word;      /* the word of the contract: the same in csv, json and on the screen */
	enum cell_type type;   /* of its known cells; decides how cells are aligned and sorted */
	signed char goes;      /* how readily it is hidden when the window is narrow: 0 last, 9 first */
	const char *meaning;   /* one line: no capital, no full stop */
	const char *one, *many; /* what rows are called if this is their first column; NULL: row,
	                           rows */
	enum column_clip clip;
	bool contents;         /* its texts may be very long: clip them even where lines have no limit */
	bool values;           /* its texts are values: those that are numbers are ordered as numbers */
	const char *earlier;   /* an earlier word, which questions may still use; NULL: none */
	unsigned char naming;  /* how well it says what a row is; 0: not at all */
};
extern const struct column_kind column_kinds[COL_COUNT_OF_ALL];

/* When a column of a shape is hidden in narrow windows, if not as its kind says: never, as one of
 * the last, or early. */
enum column_room { ROOM_OF_KIND, COLUMN_LAST, COLUMN_LATE, COLUMN_EARLY };

/*
 * Rows may be cards on the screen, which leave OUT some columns.  These are drawn whether they are hidden or not: in
 * front of the others, FIRST before HEAD, of these the hidden ones first; and on lines below the row BELOW, then
 * BELOW_LEFT and BELOW_RIGHT on one line if there is room.
 */
enum column_card { CARD_NONE, CARD_OUT, CARD_FIRST, CARD_HEAD, CARD_BELOW, CARD_BELOW_LEFT, CARD_BELOW_RIGHT };

/* A column of a shape. */
struct column {
	enum column_id id;
	bool hidden; /* only machine formats and wide text print it */
	bool total;  /* the table's last row shows its sum */
	bool verbatim; /* texts of the program, which may look like names: none of it is shortened */
	bool bar;    /* the screen also draws it as a bar, that of the largest row the longest */
	enum column_room room;
	enum column_card card;
	const char *title;   /* what people read above it where its word says something else of such rows; NULL: its word */
	const char *name;    /* of COL_OWN_NAME: its word, which lives as long as the result, and the type of */
	enum cell_type type; /* its known cells */
};

/*
 * What a result looks like, known before there is one.  head lists the values that its head may
 * have; a result may leave out some.  columns lists its columns; a result has all of them.  A shape
 * without columns is only a head.
 */
struct shape {
	const char *form; /* which form of the command this is ("-by package"); NULL: the usual one */
	const struct column *columns;
	unsigned n_columns;
	const enum column_id *head;
	unsigned n_head;
	enum column_id named_by; /* the column that says what a row is; COL_OWN_NAME: the first shown */
	bool apart; /* rows of one name differ in another column, so they are counted as rows */
	bool more; /* the head also has values under names of the dump's own */
	bool fields; /* more columns follow, named by the fields of the objects */
};
#define SHAPE_COLUMNS(array) .columns = (array), .n_columns = sizeof(array) / sizeof *(array)
#define SHAPE_HEAD(array) .head = (array), .n_head = sizeof(array) / sizeof *(array)

const char *column_word(const struct column *column);
const char *column_title(const struct column *column); /* for people; commands know both */
enum cell_type column_type(const struct column *column);

/* The index of the column with this word, or with the only word that begins so; -1: none. */
int column_find(const struct column *columns, unsigned n, const char *word);

/* How readily a column is hidden in a narrow window: the highest first; COLUMN_STAYS: never. */
#define COLUMN_STAYS (-2)
int column_readiness(const struct column *column);

/* "string", "integer": the name of a type, for people. */
const char *cell_type_name(enum cell_type type);

#endif
