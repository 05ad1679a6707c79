/* The compiled core: judgments become an index, runs become hits. See native.pyi for what is offered.

   Nothing here says what is wrong with an input: whatever is irregular is answered by None, and the readers in Python
   take over. So every check errs on the side of "not mine", and there is one place that words errors.

   Ids are UTF-8; a byte of a text that is none is escaped as in gainful/io/encoding.py, so that ids compare and sort as
   they do there. Functions on text release the GIL; nothing is shared between calls but indexes, which never change. */

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef GAINFUL_PORTABLE
#elif defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__AARCH64EL__)
#include <arm_neon.h>
#endif

typedef unsigned char byte;

enum { SINGLE, EXACT, ORDER, EXPECTED };                  /* ties */
enum { FINE, MORE, SCATTERED, NOT_MINE, NO_MEMORY };      /* how a scan ends; MORE and SCATTERED are told to the caller */

static uint64_t seed; /* of the hashes: different in each process, so that nobody can prepare ids that collide */

/* ---------------------------------------------------------------------------------------------------- memory */

/* Room for `need` items of `size` bytes; false if there is none. */
static int reserve(void **items, size_t *room, size_t need, size_t size) {
    if (need <= *room)
        return 1;
    size_t wanted = *room ? *room * 2 : 64;
    if (wanted < need)
        wanted = need;
    if (wanted > (size_t)PTRDIFF_MAX / size)
        return 0;
    void *more = realloc(*items, wanted * size);
    if (!more)
        return 0;
    *items = more;
    *room = wanted;
    return 1;
}

#define RESERVE(items, room, need) reserve((void **)&(items), &(room), (need), sizeof *(items))

typedef struct {
    int64_t *at;
    size_t count, room;
} Ints;

static int add_int(Ints *ints, int64_t value) {
    if (!RESERVE(ints->at, ints->room, ints->count + 1))
        return 0;
    ints->at[ints->count++] = value;
    return 1;
}

static int add_double(Ints *bits, double value) {
    int64_t word;
    memcpy(&word, &value, 8);
    return add_int(bits, word);
}

/* Ids that had to be rewritten; they stay where they are until all are freed. */
typedef struct Block {
    struct Block *before;
    size_t used, size;
    byte bytes[];
} Block;

static byte *take(Block **blocks, size_t size) {
    Block *block = *blocks;
    if (!block || block->size - block->used < size) {
        size_t room = size > 4096 ? size : 4096;
        block = malloc(sizeof *block + room);
        if (!block)
            return NULL;
        block->before = *blocks;
        block->used = 0;
        block->size = room;
        *blocks = block;
    }
    block->used += size;
    return block->bytes + block->used - size;
}

static void free_blocks(Block *block) {
    for (Block *before; block; block = before) {
        before = block->before;
        free(block);
    }
}

/* ------------------------------------------------------------------------------------------------------- ids */

typedef struct {
    const byte *at;
    size_t length;
} Id;

#define HIGH UINT64_C(0x8080808080808080)

static inline uint64_t load8(const byte *p) {
    uint64_t word;
    memcpy(&word, p, 8);
    return word;
}

static inline uint64_t load4(const byte *p) {
    uint32_t word;
    memcpy(&word, p, 4);
    return word;
}

/* The hash of some bytes; `any` tells which bits occur in them. */
static inline uint64_t hash_of(const byte *p, size_t n, uint64_t *any) {
    uint64_t hash = seed ^ n * UINT64_C(0x9E3779B97F4A7C15), word, seen = 0;
    if (n >= 8) {
        const byte *last = p + n - 8;
        for (; p < last; p += 8) {
            word = load8(p);
            seen |= word;
            hash = (hash ^ word) * UINT64_C(0xD6E8FEB86659FD93);
            hash ^= hash >> 32;
        }
        word = load8(last);
    } else if (n >= 4) {
        word = load4(p) | load4(p + n - 4) << 32;
    } else {
        word = n ? p[0] | (uint64_t)p[n / 2] << 8 | (uint64_t)p[n - 1] << 16 : 0;
    }
    *any = seen | word;
    hash = (hash ^ word) * UINT64_C(0xD6E8FEB86659FD93);
    hash ^= hash >> 32;
    hash *= UINT64_C(0xFF51AFD7ED558CCD);
    return hash ^ hash >> 29;
}

static inline int same(Id a, Id b) { return a.length == b.length && !memcmp(a.at, b.at, a.length); }

/* Whether a comes before b in byte order. */
static inline int less(Id a, Id b) {
    int order = memcmp(a.at, b.at, a.length < b.length ? a.length : b.length);
    return order ? order < 0 : a.length < b.length;
}

static inline int continues(byte c) { return (c & 0xC0) == 0x80; }

/* How many bytes the character at p has; 0 if it is no valid UTF-8. */
static size_t character(const byte *p, size_t n) {
    byte c = p[0];
    if (c < 0x80)
        return 1;
    if (c < 0xC2 || c > 0xF4)
        return 0;
    if (c < 0xE0)
        return n >= 2 && continues(p[1]) ? 2 : 0;
    if (n < 3 || !continues(p[1]) || !continues(p[2]))
        return 0;
    if (c < 0xF0)
        return (c == 0xE0 && p[1] < 0xA0) || (c == 0xED && p[1] > 0x9F) ? 0 : 3;
    if (n < 4 || !continues(p[3]))
        return 0;
    return (c == 0xF0 && p[1] < 0x90) || (c == 0xF4 && p[1] > 0x8F) ? 0 : 4;
}

/* The id with each byte that is no UTF-8 as a character of U+10FF80 to U+10FFFF; 0 if there is no memory. */
static int escaped(Id *id, Block **blocks) {
    const byte *p = id->at, *end = p + id->length;
    size_t length, wrong = 0;
    for (; p < end; p += length ? length : 1) {
        length = character(p, (size_t)(end - p));
        wrong += !length;
    }
    if (!wrong)
        return 1;
    byte *to = take(blocks, id->length + 3 * wrong);
    if (!to)
        return 0;
    Id found = {to, id->length + 3 * wrong};
    for (p = id->at; p < end;) {
        length = character(p, (size_t)(end - p));
        if (length) {
            memcpy(to, p, length);
            p += length;
            to += length;
        } else {
            to[0] = 0xF4;
            to[1] = 0x8F;
            to[2] = (byte)(0xBC | *p >> 6);
            to[3] = (byte)(0x80 | (*p & 0x3F));
            p++;
            to += 4;
        }
    }
    *id = found;
    return 1;
}

/* The hash of an id as it is kept, rewriting the id if it must be; 0 if there is no memory. */
static inline int settle(Id *id, uint64_t *hash, Block **blocks) {
    uint64_t any;
    *hash = hash_of(id->at, id->length, &any);
    if (!(any & HIGH))
        return 1;
    const byte *before = id->at;
    if (!escaped(id, blocks))
        return 0;
    if (id->at != before)
        *hash = hash_of(id->at, id->length, &any);
    return 1;
}

static PyObject *names_of(const Id *ids, size_t count) {
    PyObject *names = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; names && i < count; i++) {
        PyObject *name = PyUnicode_DecodeUTF8((const char *)ids[i].at, (Py_ssize_t)ids[i].length, "strict");
        if (!name || PyList_SetItem(names, (Py_ssize_t)i, name) < 0)
            Py_CLEAR(names);
    }
    return names;
}

/* --------------------------------------------------------------------------------------------------- numbers */

static const double TENS[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                              1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

#ifdef __SIZEOF_INT128__
static const uint64_t FIVES[] = {
    1, 5, 25, 125, 625, 3125, 15625, 78125, 390625, 1953125, 9765625, 48828125, 244140625, 1220703125,
    UINT64_C(6103515625), UINT64_C(30517578125), UINT64_C(152587890625), UINT64_C(762939453125),
    UINT64_C(3814697265625), UINT64_C(19073486328125), UINT64_C(95367431640625), UINT64_C(476837158203125),
    UINT64_C(2384185791015625), UINT64_C(11920928955078125), UINT64_C(59604644775390625),
    UINT64_C(298023223876953125), UINT64_C(1490116119384765625), UINT64_C(7450580596923828125)};

/* digits / 10^power, rounded once: the quotient has 64 bits at least, and the remainder tells of all that follow. */
static double divided(uint64_t digits, int power) {
    int up = __builtin_clzll(digits), down = __builtin_clzll(FIVES[power]);
    unsigned __int128 above = (unsigned __int128)(digits << up) << 64;
    uint64_t below = FIVES[power] << down;
    unsigned __int128 quotient = above / below;
    int rest = above != quotient * below;
    int shift = quotient >> 64 ? 12 : 11;
    uint64_t kept = (uint64_t)(quotient >> shift), cut = (uint64_t)quotient & ((UINT64_C(1) << shift) - 1);
    uint64_t half = UINT64_C(1) << (shift - 1);
    kept += cut > half || (cut == half && (rest || kept & 1));
    return ldexp((double)kept, shift - 64 + down - up - power);
}
#endif

static inline int is_digit(byte c) { return (byte)(c - '0') < 10; }

typedef PyThreadState *Gil; /* what a scan that released the GIL needs to take it again */

/* The number by Python's own parser; the text is known to be a number. */
static int parsed_by_python(const byte *p, size_t n, double *value, Gil *gil) {
    char small[64], *copy = n < sizeof small ? small : malloc(n + 1);
    if (!copy)
        return 0;
    memcpy(copy, p, n);
    copy[n] = 0;
    PyEval_RestoreThread(*gil);
    *value = PyOS_string_to_double(copy, NULL, NULL);
    int failed = PyErr_Occurred() != NULL;
    PyErr_Clear();
    *gil = PyEval_SaveThread();
    if (copy != small)
        free(copy);
    return !failed && isfinite(*value);
}

/* A finite decimal number, as float() reads it; 0 for anything else. */
static int number(const byte *p, const byte *end, double *value, Gil *gil) {
    const byte *begin = p;
    int negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    const byte *first = p;
    uint64_t digits = 0;
    for (; p < end && is_digit(*p); p++)
        digits = digits * 10 + (uint64_t)(*p - '0');
    int64_t count = p - first, power = 0;
    if (p < end && *p == '.') {
        const byte *point = ++p;
        for (; p < end && is_digit(*p); p++)
            digits = digits * 10 + (uint64_t)(*p - '0');
        power = point - p;
        count -= power;
    }
    if (!count)
        return 0;
    if (p < end && (*p | 0x20) == 'e') {
        int minus = ++p < end && *p == '-';
        int64_t given = 0; /* up to more than a text has digits that could make up for it */
        if (p < end && (*p == '-' || *p == '+'))
            p++;
        if (p == end)
            return 0;
        for (; p < end && is_digit(*p); p++)
            given = given < INT64_C(100000000000000000) ? given * 10 + (*p - '0') : given;
        power += minus ? -given : given;
    }
    if (p != end)
        return 0;
    for (; count > 19 && (*first == '0' || *first == '.'); first++)
        count -= *first == '0'; /* leading zeros do not count; beyond 19 digits `digits` is not what they say */
    double found;
#if defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD == 0
    if (count <= 19 && digits <= UINT64_C(1) << 53 && power >= -22 && power <= 22)
        found = power < 0 ? (double)digits / TENS[-power] : (double)digits * TENS[power];
#ifdef __SIZEOF_INT128__
    else if (count <= 19 && digits && power < 0 && power >= -27)
        found = divided(digits, (int)-power);
#endif
    else
#endif
    {
        return parsed_by_python(begin, (size_t)(end - begin), value, gil);
    }
    *value = negative ? -found : found;
    return 1;
}

/* ---------------------------------------------------------------------------------------------------- blanks */

/* Goes from blank to blank, a blank being any byte up to the space; 64 bytes at a time become a mask. */
typedef struct {
    const byte *block, *end;
    uint64_t mask;
} Cursor;

static inline uint64_t blanks_of_64(const byte *p) {
    uint64_t mask = 0;
#if defined(__SSE2__) && !defined(GAINFUL_PORTABLE)
    for (int i = 0; i < 4; i++) {
        __m128i some = _mm_loadu_si128((const __m128i *)(p + 16 * i)), least = _mm_min_epu8(some, _mm_set1_epi8(' '));
        mask |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(least, some)) << 16 * i;
    }
#elif defined(__AARCH64EL__) && !defined(GAINFUL_PORTABLE)
    uint8x16_t some[4], bits = vreinterpretq_u8_u64(vdupq_n_u64(UINT64_C(0x8040201008040201)));
    for (int i = 0; i < 4; i++)
        some[i] = vandq_u8(vcleq_u8(vld1q_u8(p + 16 * i), vdupq_n_u8(' ')), bits);
    some[0] = vpaddq_u8(vpaddq_u8(some[0], some[1]), vpaddq_u8(some[2], some[3])); /* neighbours add up to 8 bits, */
    mask = vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(some[0], some[0])), 0);   /* in the third sum */
#else
    for (int i = 0; i < 8; i++) {
        uint64_t word = 0;
        for (int j = 0; j < 8; j++)
            word |= (uint64_t)p[8 * i + j] << 8 * j;
        /* The high bit of each byte that is at most 0x20: adding 0x5F carries into it from 0x21 on. */
        uint64_t blank = ~(((word & ~HIGH) + UINT64_C(0x5F5F5F5F5F5F5F5F)) | word) & HIGH;
        mask |= ((blank >> 7) * UINT64_C(0x0102040810204080) >> 56) << 8 * i;
    }
#endif
    return mask;
}

static inline uint64_t blanks_at(const byte *p, const byte *end) {
    if (end - p >= 64)
        return blanks_of_64(p);
    byte copy[64];
    memset(copy, 'x', sizeof copy);
    memcpy(copy, p, (size_t)(end - p));
    return blanks_of_64(copy);
}

static inline int lowest(uint64_t mask) {
#if defined(__GNUC__) || defined(__clang__)
    return __builtin_ctzll(mask);
#else
    for (int at = 0;; at++)
        if (mask >> at & 1)
            return at;
#endif
}

static void start(Cursor *cursor, const byte *p, const byte *end) {
    cursor->block = p;
    cursor->end = end;
    cursor->mask = p < end ? blanks_at(p, end) : 0;
}

/* The next blank; the end if there is none. */
static inline const byte *next_blank(Cursor *cursor) {
    while (!cursor->mask) {
        if (cursor->end - cursor->block <= 64) {
            cursor->block = cursor->end;
            return cursor->end;
        }
        cursor->block += 64;
        cursor->mask = blanks_at(cursor->block, cursor->end);
    }
    const byte *found = cursor->block + lowest(cursor->mask);
    cursor->mask &= cursor->mask - 1;
    return found;
}

static inline int separates(byte c) { return c == ' ' || c == '\t'; }

/* The fields of one line, from `line` on. */
typedef struct {
    Id field[6];
    int count;         /* 0 for nothing but blanks or a comment, -1 for what is no line */
    int plain;         /* one space or tab between fields, and nothing else */
    const byte *after; /* where the next line begins */
} Line;

/* A line of `wanted` fields if it is plain; 0 and the cursor moved on if not. */
static inline int plain_line(Cursor *cursor, const byte *line, const byte *end, int wanted, Line *found) {
    const byte *from = line;
    int plain = *line != '#';
#pragma GCC unroll 6
    for (int i = 0; i < wanted; i++) {
        const byte *blank = next_blank(cursor);
        if (blank == end)
            return 0;
        plain &= blank > from && (i < wanted - 1 ? separates(*blank) : *blank == '\n');
        found->field[i] = (Id){from, (size_t)(blank - from)};
        from = blank + 1;
    }
    found->count = wanted;
    found->plain = 1;
    found->after = from;
    return plain;
}

static void any_line(Cursor *cursor, const byte *line, const byte *end, int wanted, Line *found) {
    const byte *from = line;
    int count = 0, blanks = 0, nul = 0;
    for (;;) {
        const byte *blank = next_blank(cursor);
        if (blank < end && !(*blank == ' ' || (*blank >= '\t' && *blank <= '\r'))) {
            nul |= !*blank; /* other control characters belong to the field */
            continue;
        }
        blanks++;
        if (blank > from) {
            if (count < wanted)
                found->field[count] = (Id){from, (size_t)(blank - from)};
            count++;
        }
        from = blank + 1;
        if (blank == end || *blank == '\n') {
            found->after = blank == end ? end : from;
            break;
        }
    }
    if (count && *found->field[0].at == '#')
        count = 0;
    found->plain = blanks == wanted && count == wanted;
    found->count = nul || (count && count != wanted) ? -1 : count;
}

/* The next line of `wanted` fields; `plain` tells what the line before was like, which this one is likely to be. */
static inline void next_line(Cursor *cursor, const byte *line, const byte *end, int wanted, Line *found, int *plain) {
    if (*plain) {
        Cursor saved = *cursor;
        if (plain_line(cursor, line, end, wanted, found))
            return;
        *cursor = saved;
    }
    any_line(cursor, line, end, wanted, found);
    *plain = found->plain;
}

/* Whether there is one of the characters in which bytes are escaped: a text that has one is refused. */
static int reserved_character(const byte *p, const byte *end) {
    while (p < end && (p = memchr(p, 0xF4, (size_t)(end - p)))) {
        if (end - p >= 4 && p[1] == 0x8F && (p[2] | 1) == 0xBF && continues(p[3]))
            return 1;
        p++;
    }
    return 0;
}

/* ----------------------------------------------------------------------------------------------------- index */

typedef struct {
    uint32_t tag, document; /* the upper half of the hash; the number of the document, counted from 1, 0 if free */
} Slot;

typedef struct {
    PyObject_HEAD
    PyObject *topics; /* tuple of str */
    size_t topic_count, count;
    Id *topic_ids;
    uint64_t *topic_hashes;
    uint32_t *topic_slots; /* number of the topic, counted from 1 */
    size_t topic_mask;
    int64_t *topic; /* per document */
    double *label;
    Id *ids;
    byte *bytes; /* of all ids, those of topics first */
    Slot *slots; /* of all topics */
    size_t *slots_begin; /* per topic, and the end */
} Index;

static int64_t find_topic(const Index *index, Id id, uint64_t hash) {
    for (size_t at = hash & index->topic_mask;; at = (at + 1) & index->topic_mask) {
        uint32_t number = index->topic_slots[at];
        if (!number)
            return -1;
        if (index->topic_hashes[number - 1] == hash && same(index->topic_ids[number - 1], id))
            return number - 1;
    }
}

static inline int64_t find_document(const Index *index, int64_t topic, Id id, uint64_t hash) {
    const Slot *slots = index->slots + index->slots_begin[topic];
    size_t mask = index->slots_begin[topic + 1] - index->slots_begin[topic] - 1;
    for (size_t at = hash & mask;; at = (at + 1) & mask) {
        Slot slot = slots[at];
        if (!slot.document)
            return -1;
        if (slot.tag == hash >> 32 && same(index->ids[slot.document - 1], id))
            return slot.document - 1;
    }
}

/* The smallest power of two above four times the number: most lookups then end at the first slot. */
static size_t slots_for(size_t count) {
    size_t slots = 4;
    while (slots <= 4 * count)
        slots *= 2;
    return slots;
}

/* Judgments on their way into an index. */
typedef struct {
    Id id;
    uint64_t hash;
    double label;
    uint32_t topic;
} Judgment;

typedef struct {
    Judgment *rows;
    size_t count, room;
    Id *topics;
    size_t topic_count, topic_room;
    uint64_t *hashes;
    size_t hash_room;
    uint32_t *slots;
    size_t mask;
    Block *blocks;
} Draft;

static void free_draft(Draft *draft) {
    free(draft->rows);
    free(draft->topics);
    free(draft->hashes);
    free(draft->slots);
    free_blocks(draft->blocks);
}

/* The number of a topic, a new one if need be; -1 if there is no memory. */
static int64_t topic_number(Draft *draft, Id id) {
    uint64_t hash;
    if (!settle(&id, &hash, &draft->blocks))
        return -1;
    if (2 * draft->topic_count + 2 > draft->mask) {
        size_t size = slots_for(2 * draft->topic_count + 32);
        uint32_t *slots = calloc(size, sizeof *slots);
        if (!slots)
            return -1;
        for (size_t i = 0; i < draft->topic_count; i++) {
            size_t at = draft->hashes[i] & (size - 1);
            while (slots[at])
                at = (at + 1) & (size - 1);
            slots[at] = (uint32_t)i + 1;
        }
        free(draft->slots);
        draft->slots = slots;
        draft->mask = size - 1;
    }
    size_t at = hash & draft->mask;
    for (; draft->slots[at]; at = (at + 1) & draft->mask) {
        uint32_t number = draft->slots[at] - 1;
        if (draft->hashes[number] == hash && same(draft->topics[number], id))
            return number;
    }
    size_t count = draft->topic_count;
    if (count >= UINT32_MAX / 4 || !RESERVE(draft->topics, draft->topic_room, count + 1) ||
        !RESERVE(draft->hashes, draft->hash_room, count + 1))
        return -1;
    draft->topics[count] = id;
    draft->hashes[count] = hash;
    draft->slots[at] = (uint32_t)count + 1;
    return (int64_t)draft->topic_count++;
}

static int add_judgment(Draft *draft, int64_t topic, Id id, double label) {
    if (topic < 0 || draft->count >= UINT32_MAX / 4 || !RESERVE(draft->rows, draft->room, draft->count + 1))
        return 0;
    Judgment *row = draft->rows + draft->count;
    if (!settle(&id, &row->hash, &draft->blocks))
        return 0;
    row->id = id;
    row->label = label;
    row->topic = (uint32_t)topic;
    draft->count++;
    return 1;
}

/* Rows in the order of topics, those of a topic as they came. */
static int sort_by_topic(Draft *draft) {
    size_t i = 1;
    while (i < draft->count && draft->rows[i - 1].topic <= draft->rows[i].topic)
        i++;
    if (i >= draft->count)
        return 1;
    size_t *place = calloc(draft->topic_count + 1, sizeof *place);
    Judgment *sorted = malloc(draft->count * sizeof *sorted);
    if (place && sorted) {
        for (i = 0; i < draft->count; i++)
            place[draft->rows[i].topic + 1]++;
        for (i = 0; i < draft->topic_count; i++)
            place[i + 1] += place[i];
        for (i = 0; i < draft->count; i++)
            sorted[place[draft->rows[i].topic]++] = draft->rows[i];
        free(draft->rows);
        draft->rows = sorted;
        draft->room = draft->count;
    } else {
        free(sorted);
    }
    free(place);
    return draft->rows == sorted;
}

/* Copy an id to where it stays; where the next can go. */
static byte *keep(Id *id, byte *to) {
    memcpy(to, id->at, id->length);
    id->at = to;
    return to + id->length;
}

/* Everything of an index but its Python objects; a document that is judged twice is not mine. Needs no GIL. */
static int fill(Index *index, Draft *draft, int keep_first) {
    size_t topics = draft->topic_count, count = draft->count, length = 0, i;
    if (!sort_by_topic(draft))
        return NO_MEMORY;
    index->topic_count = topics;
    index->topic_mask = draft->mask;
    index->topic_ids = draft->topics;
    index->topic_hashes = draft->hashes;
    index->topic_slots = draft->slots;
    draft->topics = NULL;
    draft->hashes = NULL;
    draft->slots = NULL;
    index->slots_begin = calloc(topics + 1, sizeof *index->slots_begin);
    index->topic = malloc(count * sizeof *index->topic);
    index->label = malloc(count * sizeof *index->label);
    index->ids = malloc(count * sizeof *index->ids);
    for (i = 0; i < topics; i++)
        length += index->topic_ids[i].length;
    for (i = 0; i < count; i++)
        length += draft->rows[i].id.length;
    index->bytes = malloc(length + 1);
    if (!index->slots_begin || !index->topic || !index->label || !index->ids || !index->bytes)
        return NO_MEMORY;
    byte *to = index->bytes;
    for (i = 0; i < topics; i++)
        to = keep(&index->topic_ids[i], to);
    for (i = 0; i < count; i++)
        index->slots_begin[draft->rows[i].topic + 1]++;
    for (i = 0; i < topics; i++)
        index->slots_begin[i + 1] = index->slots_begin[i] + slots_for(index->slots_begin[i + 1]);
    index->slots = calloc(index->slots_begin[topics], sizeof *index->slots);
    if (!index->slots)
        return NO_MEMORY;
    for (i = 0; i < count; i++) {
        const Judgment *row = draft->rows + i;
        if (find_document(index, row->topic, row->id, row->hash) >= 0) {
            if (keep_first)
                continue;
            return NOT_MINE;
        }
        size_t number = index->count++;
        index->ids[number] = row->id;
        to = keep(&index->ids[number], to);
        index->label[number] = row->label;
        index->topic[number] = row->topic;
        Slot *slots = index->slots + index->slots_begin[row->topic];
        size_t mask = index->slots_begin[row->topic + 1] - index->slots_begin[row->topic] - 1, at = row->hash & mask;
        while (slots[at].document)
            at = (at + 1) & mask;
        slots[at].tag = (uint32_t)(row->hash >> 32);
        slots[at].document = (uint32_t)number + 1;
    }
    return FINE;
}

static PyTypeObject *index_type(PyObject *module);

static Index *new_index(PyObject *module) {
    PyTypeObject *type = index_type(module);
    allocfunc alloc = type ? (allocfunc)PyType_GetSlot(type, Py_tp_alloc) : NULL;
    return alloc ? (Index *)alloc(type, 0) : NULL; /* all zero */
}

/* The index of a draft, which is freed; None if the draft is not mine. The GIL may be released if nobody can change what
   the ids lie in. */
static PyObject *finished_index(PyObject *module, Draft *draft, int status, int keep_first, int release) {
    PyObject *result = NULL;
    if (status == FINE && !draft->count)
        status = NOT_MINE;
    if (status == FINE) {
        Index *index = new_index(module);
        if (index) {
            PyThreadState *released = release ? PyEval_SaveThread() : NULL;
            status = fill(index, draft, keep_first);
            if (release)
                PyEval_RestoreThread(released);
            PyObject *names = status == FINE ? names_of(index->topic_ids, index->topic_count) : NULL;
            index->topics = names ? PyList_AsTuple(names) : NULL;
            Py_XDECREF(names);
            if (index->topics)
                result = Py_NewRef((PyObject *)index);
            Py_DECREF((PyObject *)index);
        }
    }
    if (status == NOT_MINE)
        result = Py_NewRef(Py_None);
    else if (status == NO_MEMORY)
        PyErr_NoMemory();
    free_draft(draft);
    return result;
}

static int text_is_ascii(const byte *p, size_t n) {
    uint64_t any = 0;
    for (; n >= 8; p += 8, n -= 8)
        any |= load8(p);
    for (; n; p++, n--)
        any |= *p;
    return !(any & HIGH);
}

static int draft_of_text(Draft *draft, const byte *p, const byte *end, Gil *gil) {
    if (!text_is_ascii(p, (size_t)(end - p)) && reserved_character(p, end))
        return NOT_MINE;
    Cursor cursor;
    start(&cursor, p, end);
    Line line;
    Id before = {NULL, 0};
    int64_t topic = -1;
    int plain = 1;
    for (; p < end; p = line.after) {
        next_line(&cursor, p, end, 4, &line, &plain);
        if (!line.count)
            continue;
        double label;
        const Id *value = &line.field[3];
        if (line.count < 0 || !number(value->at, value->at + value->length, &label, gil))
            return NOT_MINE;
        if (topic < 0 || !same(before, line.field[0])) {
            before = line.field[0];
            topic = topic_number(draft, before);
        }
        if (!add_judgment(draft, topic, line.field[2], label))
            return NO_MEMORY;
    }
    return FINE;
}

static PyObject *index_text(PyObject *module, PyObject *arguments) {
    Py_buffer text;
    int keep_first;
    if (!PyArg_ParseTuple(arguments, "y*p", &text, &keep_first))
        return NULL;
    Draft draft = {0};
    Gil gil = PyEval_SaveThread();
    int status = draft_of_text(&draft, text.buf, (const byte *)text.buf + text.len, &gil);
    PyEval_RestoreThread(gil);
    PyObject *result = finished_index(module, &draft, status, keep_first, 1);
    PyBuffer_Release(&text); /* not before: the ids of the draft lie there */
    return result;
}

/* --------------------------------------------------------------------------------------- objects of Python */

/* Whether the type of an object is one of these; NULL counts as none. */
static int is_one_of(PyObject *object, PyObject *types) {
    PyObject *type = (PyObject *)Py_TYPE(object);
    Py_ssize_t count = PyTuple_Size(types);
    for (Py_ssize_t i = 0; i < count; i++)
        if (PyTuple_GetItem(types, i) == type)
            return 1;
    return 0;
}

static inline int is_dict(PyObject *object, PyObject *mappings) {
    return PyDict_CheckExact(object) || (PyDict_Check(object) && is_one_of(object, mappings));
}

/* A finite number; 0 for what is none, or of a type that might do anything. Runs no code of Python. */
static inline int float_of(PyObject *object, PyObject *numbers, double *value) {
    if (!PyFloat_CheckExact(object) && !PyLong_CheckExact(object) && !is_one_of(object, numbers))
        return 0;
    *value = PyFloat_AsDouble(object);
    if (*value == -1.0 && PyErr_Occurred()) {
        PyErr_Clear();
        return 0;
    }
    return isfinite(*value);
}

/* The UTF-8 of a string, which the string holds; 0 if it has none. */
static inline int id_of(PyObject *object, Id *id) {
    if (!PyUnicode_CheckExact(object))
        return 0;
    Py_ssize_t length;
    id->at = (const byte *)PyUnicode_AsUTF8AndSize(object, &length);
    id->length = (size_t)length;
    if (!id->at)
        PyErr_Clear();
    return id->at != NULL;
}

static int draft_of_dict(Draft *draft, PyObject *qrels, PyObject *numbers, PyObject *mappings) {
    PyObject *name, *documents, *document, *value;
    Py_ssize_t at = 0, inner;
    if (!is_dict(qrels, mappings))
        return NOT_MINE;
    while (PyDict_Next(qrels, &at, &name, &documents)) {
        Id id;
        if (!id_of(name, &id) || !is_dict(documents, mappings))
            return NOT_MINE;
        int64_t topic = PyDict_Size(documents) ? topic_number(draft, id) : 0;
        for (inner = 0; PyDict_Next(documents, &inner, &document, &value);) {
            double label = NAN;
            if (!id_of(document, &id) || (value != Py_None && !float_of(value, numbers, &label)))
                return NOT_MINE;
            if (!add_judgment(draft, topic, id, label))
                return NO_MEMORY;
        }
    }
    return FINE;
}

static PyObject *index_dict(PyObject *module, PyObject *arguments) {
    PyObject *qrels, *numbers, *mappings;
    if (!PyArg_ParseTuple(arguments, "OO!O!", &qrels, &PyTuple_Type, &numbers, &PyTuple_Type, &mappings))
        return NULL;
    Draft draft = {0};
    int status = draft_of_dict(&draft, qrels, numbers, mappings);
    return finished_index(module, &draft, status, 0, 0);
}

static PyObject *index_columns(PyObject *module, PyObject *arguments) {
    PyObject *names;
    Py_buffer topic, ids, lengths;
    if (!PyArg_ParseTuple(arguments, "O!y*y*y*", &PyTuple_Type, &names, &topic, &ids, &lengths))
        return NULL;
    Draft draft = {0};
    int status = FINE;
    Py_ssize_t topics = PyTuple_Size(names), count = topic.len / 8, left = ids.len;
    if (lengths.len != topic.len || topic.len % 8)
        status = NOT_MINE;
    for (Py_ssize_t i = 0; i < topics && status == FINE; i++) {
        Id id;
        if (!id_of(PyTuple_GetItem(names, i), &id) || topic_number(&draft, id) != i)
            status = NOT_MINE;
    }
    const byte *p = ids.buf;
    for (Py_ssize_t i = 0; i < count && status == FINE; i++) {
        int64_t number, length;
        memcpy(&number, (const byte *)topic.buf + 8 * i, 8);
        memcpy(&length, (const byte *)lengths.buf + 8 * i, 8);
        if (number < 0 || number >= topics || length < 0 || length > left) {
            status = NOT_MINE;
            break;
        }
        Id id = {p, (size_t)length};
        if (!add_judgment(&draft, number, id, NAN))
            status = NO_MEMORY;
        p += length;
        left -= (Py_ssize_t)length;
    }
    PyObject *result = finished_index(module, &draft, status, 0, 1);
    PyBuffer_Release(&topic);
    PyBuffer_Release(&ids);
    PyBuffer_Release(&lengths);
    return result;
}

static void index_dealloc(PyObject *self) {
    Index *index = (Index *)self;
    PyTypeObject *type = Py_TYPE(self);
    Py_XDECREF(index->topics);
    free(index->topic_ids);
    free(index->topic_hashes);
    free(index->topic_slots);
    free(index->topic);
    free(index->label);
    free(index->ids);
    free(index->bytes);
    free(index->slots);
    free(index->slots_begin);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static Py_ssize_t index_length(PyObject *self) { return (Py_ssize_t)((Index *)self)->count; }

static PyObject *index_topics(PyObject *self, void *unused) {
    (void)unused;
    return Py_NewRef(((Index *)self)->topics);
}

static PyObject *index_topic(PyObject *self, PyObject *unused) {
    (void)unused;
    return PyBytes_FromStringAndSize((const char *)((Index *)self)->topic, 8 * index_length(self));
}

static PyObject *index_label(PyObject *self, PyObject *unused) {
    (void)unused;
    return PyBytes_FromStringAndSize((const char *)((Index *)self)->label, 8 * index_length(self));
}

static PyObject *index_ids(PyObject *self, PyObject *unused) {
    (void)unused;
    return names_of(((Index *)self)->ids, ((Index *)self)->count);
}

/* -------------------------------------------------------------------------------------------------- ranking */

/* A document of the topic at hand. */
typedef struct {
    Id id;
    uint64_t hash;
    double score;
    int64_t document; /* number in the pool, -1 if it is not there */
} Row;

/* Columns of what is found: per topic; per hit; per listed document; per document. TIED and SCORE hold doubles. */
enum { TOPIC, COUNT, TIED, HIT_TOPIC, RANK, DOCUMENT, TIE_FIRST, TIE_LAST, LISTED, SCORE, COLUMNS };

typedef struct {
    Id *at;
    size_t count, room;
} Ids;

/* What is found in a run, and room for the topic at hand. */
typedef struct {
    const Index *index;
    int ties, keep_first, scores; /* `scores`: tell those of all documents */
    unsigned long long most;      /* documents of a topic that are listed */
    Ints column[COLUMNS];
    Ids listed, unknown;
    size_t rows;
    Row *row;
    size_t row_count, row_room;
    uint64_t *key, *other_key; /* scores as integers that sort the same way, the highest first */
    uint32_t *order, *other_order;
    Slot *seen; /* documents of the topic at hand */
    size_t key_room, other_key_room, order_room, other_order_room, seen_room;
    Block *blocks, *kept; /* ids of the topic at hand, and those that are told in the end */
} Match;

static void free_match(Match *match) {
    for (int i = 0; i < COLUMNS; i++)
        free(match->column[i].at);
    free(match->listed.at);
    free(match->unknown.at);
    free(match->row);
    free(match->key);
    free(match->other_key);
    free(match->order);
    free(match->other_order);
    free(match->seen);
    free_blocks(match->blocks);
    free_blocks(match->kept);
}

/* Look for documents that stand twice: keep the first, or refuse. */
static int once_each(Match *match) {
    size_t count = match->row_count, mask = slots_for(count) - 1, kept = 0;
    Row *rows = match->row;
    if (!RESERVE(match->seen, match->seen_room, mask + 1))
        return NO_MEMORY;
    Slot *seen = match->seen;
    memset(seen, 0, (mask + 1) * sizeof *seen);
    for (size_t i = 0; i < count; i++) {
        size_t at = rows[i].hash & mask;
        uint32_t tag = (uint32_t)(rows[i].hash >> 32);
        int again = 0;
        for (; seen[at].document && !again; at = (at + 1) & mask)
            again = seen[at].tag == tag && same(rows[seen[at].document - 1].id, rows[i].id);
        if (again && !match->keep_first)
            return NOT_MINE;
        if (again)
            continue;
        if (kept < i)
            rows[kept] = rows[i];
        seen[at].tag = tag;
        seen[at].document = (uint32_t)++kept;
    }
    match->row_count = kept;
    return FINE;
}

static inline uint64_t key_of(double score, int ties) {
    if (ties == SINGLE) {
        float single = (float)score + 0.0f; /* -0.0 becomes 0.0 */
        uint32_t bits;
        memcpy(&bits, &single, 4);
        return bits >> 31 ? bits : ~bits & 0x7FFFFFFFu;
    }
    uint64_t bits;
    score += 0.0;
    memcpy(&bits, &score, 8);
    return bits >> 63 ? bits : ~bits & UINT64_C(0x7FFFFFFFFFFFFFFF);
}

/* Sort `order` by `key`, the lowest first; equal ones stay as they are. */
static void sort_keys(Match *match) {
    size_t count = match->row_count;
    uint64_t *key = match->key, *to_key = match->other_key;
    uint32_t *order = match->order, *to_order = match->other_order;
    if (count <= 48) {
        for (size_t i = 1; i < count; i++) {
            uint64_t one = key[i];
            uint32_t which = order[i];
            size_t j = i;
            for (; j && key[j - 1] > one; j--) {
                key[j] = key[j - 1];
                order[j] = order[j - 1];
            }
            key[j] = one;
            order[j] = which;
        }
        return;
    }
    uint32_t counts[8][256];
    memset(counts, 0, sizeof counts);
    int digits = match->ties == SINGLE ? 4 : 8;
    for (size_t i = 0; i < count; i++)
        for (int digit = 0; digit < digits; digit++)
            counts[digit][key[i] >> 8 * digit & 255]++;
    for (int digit = 0; digit < digits; digit++) {
        uint32_t *place = counts[digit], sum = 0;
        if (place[key[0] >> 8 * digit & 255] == count)
            continue;
        for (int value = 0; value < 256; value++) {
            uint32_t here = place[value];
            place[value] = sum;
            sum += here;
        }
        for (size_t i = 0; i < count; i++) {
            uint32_t at = place[key[i] >> 8 * digit & 255]++;
            to_key[at] = key[i];
            to_order[at] = order[i];
        }
        uint64_t *swapped_key = key;
        uint32_t *swapped_order = order;
        key = to_key;
        order = to_order;
        to_key = swapped_key;
        to_order = swapped_order;
    }
    match->key = key;
    match->other_key = to_key;
    match->order = order;
    match->other_order = to_order;
}

/* Sort some places of `order` by id, the highest first. */
static void sort_ids(const Row *rows, uint32_t *order, uint32_t *room, size_t count) {
    const size_t few = 8;
    for (size_t begin = 0; begin < count; begin += few) {
        size_t end = begin + few < count ? begin + few : count;
        for (size_t i = begin + 1; i < end; i++) {
            uint32_t which = order[i];
            size_t j = i;
            for (; j > begin && less(rows[order[j - 1]].id, rows[which].id); j--)
                order[j] = order[j - 1];
            order[j] = which;
        }
    }
    for (size_t width = few; width < count; width *= 2) {
        for (size_t begin = 0; begin + width < count; begin += 2 * width) {
            size_t middle = begin + width, end = middle + width < count ? middle + width : count;
            size_t left = 0, lefts = width, right = middle, to = begin;
            memcpy(room, order + begin, width * sizeof *room);
            while (left < lefts && right < end)
                order[to++] = less(rows[room[left]].id, rows[order[right]].id) ? order[right++] : room[left++];
            while (left < lefts)
                order[to++] = room[left++];
        }
    }
}

/* A copy, since the list of these names may make Python collect garbage, and run code that changes a dict. */
static int add_id(Match *match, Ids *ids, Id id) {
    byte *copy = take(&match->kept, id.length);
    if (!copy || !RESERVE(ids->at, ids->room, ids->count + 1))
        return 0;
    keep(&id, copy);
    ids->at[ids->count++] = id;
    return 1;
}

/* What is to be told of the document at a place; tied with it are those from `first` to `last`. */
static inline int tell(Match *match, int64_t topic, const Row *row, size_t place, size_t first, size_t last) {
    Ints *column = match->column;
    if (match->scores && !add_double(&column[SCORE], row->score))
        return 0;
    if (place < match->most && !(add_int(&column[LISTED], row->document) && add_id(match, &match->listed, row->id)))
        return 0;
    return row->document < 0 ||
           (add_int(&column[HIT_TOPIC], topic) && add_int(&column[RANK], (int64_t)place + 1) &&
            add_int(&column[DOCUMENT], row->document) &&
            (match->ties != EXPECTED || (add_int(&column[TIE_FIRST], (int64_t)first + 1) &&
                                         add_int(&column[TIE_LAST], (int64_t)last + 1))));
}

/* Rank the topic at hand. */
static int end_topic(Match *match, int64_t topic, int distinct) {
    if (!match->row_count || topic < 0)
        return FINE;
    int status = distinct ? FINE : once_each(match);
    if (status != FINE)
        return status;
    size_t count = match->row_count, hits = 0;
    Row *rows = match->row;
    if (!RESERVE(match->key, match->key_room, count) || !RESERVE(match->order, match->order_room, count) ||
        !RESERVE(match->other_key, match->other_key_room, count) ||
        !RESERVE(match->other_order, match->other_order_room, count))
        return NO_MEMORY;
    int sorted = 1, ties = 0;
    uint64_t *key = match->key;
    for (size_t i = 0; i < count; i++) {
        key[i] = key_of(rows[i].score, match->ties);
        if (i) {
            sorted &= key[i - 1] <= key[i];
            ties |= key[i - 1] == key[i];
        }
        rows[i].document = find_document(match->index, topic, rows[i].id, rows[i].hash);
        hits += rows[i].document >= 0;
    }
    for (size_t i = 0; i < count; i++)
        match->order[i] = (uint32_t)i;
    if (!sorted)
        sort_keys(match);
    key = match->key;
    if (!add_int(&match->column[TOPIC], topic) || !add_int(&match->column[COUNT], (int64_t)count) ||
        !add_double(&match->column[TIED], count > 1 ? key[0] == key[count - 1] : NAN))
        return NO_MEMORY;
    if (sorted && (!ties || match->ties == ORDER)) {
        for (size_t i = 0; i < count; i++)
            if (!tell(match, topic, rows + i, i, i, i))
                return NO_MEMORY;
        return FINE;
    }
    for (size_t begin = 0, end; begin < count && (hits || match->scores || begin < match->most); begin = end) {
        int any = match->scores || begin < match->most;
        for (end = begin; end < count && key[end] == key[begin]; end++)
            any |= rows[match->order[end]].document >= 0;
        if (!any)
            continue;
        if (end - begin > 1 && match->ties <= EXACT)
            sort_ids(rows, match->order + begin, match->other_order, end - begin);
        for (size_t i = begin; i < end; i++)
            if (!tell(match, topic, rows + match->order[i], i, begin, end - 1))
                return NO_MEMORY;
    }
    return FINE;
}

/* The row for one more document of the topic at hand; NULL if there is no memory. */
static inline Row *new_row(Match *match) {
    if (match->row_count >= UINT32_MAX / 4 || !RESERVE(match->row, match->row_room, match->row_count + 1))
        return NULL;
    return match->row + match->row_count++;
}

static PyObject *matched(const Match *match) {
    PyObject *items[COLUMNS + 3];
    for (int i = 0; i < COLUMNS; i++)
        items[i] = PyBytes_FromStringAndSize((char *)match->column[i].at, (Py_ssize_t)match->column[i].count * 8);
    items[COLUMNS] = names_of(match->listed.at, match->listed.count);
    items[COLUMNS + 1] = names_of(match->unknown.at, match->unknown.count);
    items[COLUMNS + 2] = PyLong_FromSize_t(match->rows);
    PyObject *result = PyTuple_New(COLUMNS + 3);
    for (Py_ssize_t i = 0; i < COLUMNS + 3; i++) {
        if (!items[i] || !result) {
            Py_XDECREF(items[i]);
            Py_CLEAR(result);
        } else if (PyTuple_SetItem(result, i, items[i]) < 0) {
            Py_CLEAR(result);
        }
    }
    return result;
}

static PyObject *finished_match(Match *match, int status) {
    PyObject *result = NULL;
    if (status == FINE)
        result = matched(match);
    else if (status == NOT_MINE)
        result = Py_NewRef(Py_None);
    else if (status == NO_MEMORY)
        PyErr_NoMemory();
    else
        result = PyLong_FromLong(status);
    free_match(match);
    return result;
}

/* ----------------------------------------------------------------------------------------------- runs of text */

/* Where the topic of a line lies; 0 for a line without data. `after` is where the next line begins, NULL if that is
   not known. */
static int topic_field(const byte *p, const byte *end, Id *topic, const byte **after) {
    const byte *line_end = memchr(p, '\n', (size_t)(end - p));
    *after = line_end ? line_end + 1 : NULL;
    if (!line_end)
        line_end = end;
    while (p < line_end && (*p == ' ' || (*p >= '\t' && *p <= '\r')))
        p++;
    topic->at = p;
    while (p < line_end && !(*p == ' ' || (*p >= '\t' && *p <= '\r')))
        p++;
    topic->length = (size_t)(p - topic->at);
    return topic->length && *topic->at != '#';
}

/* Where to cut a text near p: at the first change of topic after the line that p is in, so that everybody who looks
   finds the same place. NULL if it cannot be told from what is there. */
static const byte *cut(const byte *p, const byte *end, int ends) {
    p = memchr(p, '\n', (size_t)(end - p));
    if (!p)
        return ends ? end : NULL;
    Id first = {NULL, 0}, topic;
    const byte *after;
    for (p++; p < end; p = after) {
        int data = topic_field(p, end, &topic, &after);
        if (!after && !ends)
            return NULL;
        if (data && !first.at)
            first = topic;
        else if (data && !same(first, topic))
            return p;
        if (!after)
            break;
    }
    return ends ? end : NULL;
}

static PyObject *cut_text(PyObject *module, PyObject *arguments) {
    (void)module;
    Py_buffer text;
    Py_ssize_t at;
    if (!PyArg_ParseTuple(arguments, "y*n", &text, &at))
        return NULL;
    const byte *begin = text.buf, *end = begin + text.len;
    const byte *found = at < 0 || at > text.len ? NULL : cut(begin + at, end, 0);
    PyBuffer_Release(&text);
    return PyLong_FromSsize_t(found ? found - begin : -1);
}

static int match_lines(Match *match, const byte *p, const byte *end, Gil *gil) {
    const Index *index = match->index;
    if (!text_is_ascii(p, (size_t)(end - p)) && reserved_character(p, end))
        return NOT_MINE;
    byte *closed = calloc(index->topic_count, 1);
    if (!closed)
        return NO_MEMORY;
    Cursor cursor;
    start(&cursor, p, end);
    Line line;
    Id before = {NULL, 0};
    int64_t topic = -1;
    int plain = 1, status = FINE;
    for (; p < end && status == FINE; p = line.after) {
        next_line(&cursor, p, end, 6, &line, &plain);
        if (!line.count)
            continue;
        double score;
        const Id *value = &line.field[4];
        if (line.count < 0 || !number(value->at, value->at + value->length, &score, gil)) {
            status = NOT_MINE;
            break;
        }
        match->rows++;
        if (!same(before, line.field[0])) {
            uint64_t hash;
            Id id = line.field[0];
            status = end_topic(match, topic, 0);
            if (status == FINE && !settle(&id, &hash, &match->kept))
                status = NO_MEMORY;
            if (status != FINE)
                break;
            free_blocks(match->blocks);
            match->blocks = NULL;
            match->row_count = 0;
            before = line.field[0];
            topic = find_topic(index, id, hash);
            if (topic < 0 ? !add_id(match, &match->unknown, id) : 0)
                status = NO_MEMORY;
            if (topic >= 0) {
                if (closed[topic])
                    status = SCATTERED;
                closed[topic] = 1;
            }
        }
        if (topic >= 0 && status == FINE) {
            Row *row = new_row(match);
            if (!row) {
                status = NO_MEMORY;
                break;
            }
            row->id = line.field[2];
            row->score = score;
            if (!settle(&row->id, &row->hash, &match->blocks))
                status = NO_MEMORY;
        }
    }
    if (status == FINE)
        status = end_topic(match, topic, 0);
    free(closed);
    return status;
}

static PyObject *match_text(PyObject *module, PyObject *arguments) {
    PyObject *index;
    Py_buffer text;
    Py_ssize_t own;
    int begins, ends;
    Match match = {0};
    if (!PyArg_ParseTuple(arguments, "O!y*nppipKp", index_type(module), &index, &text, &own, &begins, &ends,
                          &match.ties, &match.keep_first, &match.most, &match.scores))
        return NULL;
    match.index = (const Index *)index;
    Gil gil = PyEval_SaveThread();
    const byte *from = text.buf, *end = from + text.len;
    const byte *to = ends && own >= text.len ? end : own < 0 || own > text.len ? NULL : cut(from + own, end, ends);
    from = begins ? from : cut(from, end, ends);
    int status = from && to ? FINE : MORE;
    if (status == FINE && from < to)
        status = match_lines(&match, from, to, &gil);
    PyEval_RestoreThread(gil);
    PyObject *result = finished_match(&match, status);
    PyBuffer_Release(&text);
    return result;
}

/* ---------------------------------------------------------------------------------------------- runs in dicts */

static int match_documents(Match *match, PyObject *run, PyObject *numbers, PyObject *mappings) {
    PyObject *name, *documents, *document, *value;
    Py_ssize_t at = 0, inner;
    if (!is_dict(run, mappings))
        return NOT_MINE;
    while (PyDict_Next(run, &at, &name, &documents)) {
        Id id;
        uint64_t hash, any;
        if (!id_of(name, &id) || !is_dict(documents, mappings))
            return NOT_MINE;
        hash = hash_of(id.at, id.length, &any);
        int64_t topic = find_topic(match->index, id, hash);
        if (topic < 0 && PyDict_Size(documents) && !add_id(match, &match->unknown, id))
            return NO_MEMORY;
        match->row_count = 0;
        for (inner = 0; PyDict_Next(documents, &inner, &document, &value); match->rows++) {
            double score;
            if (!id_of(document, &id) || !float_of(value, numbers, &score))
                return NOT_MINE;
            if (topic < 0)
                continue;
            Row *row = new_row(match);
            if (!row)
                return NO_MEMORY;
            row->id = id;
            row->hash = hash_of(id.at, id.length, &any);
            row->score = score;
        }
        int status = end_topic(match, topic, 1);
        if (status != FINE)
            return status;
    }
    return FINE;
}

static PyObject *match_dict(PyObject *module, PyObject *arguments) {
    PyObject *index, *run, *numbers, *mappings;
    Match match = {0};
    if (!PyArg_ParseTuple(arguments, "O!OiKpO!O!", index_type(module), &index, &run, &match.ties, &match.most,
                          &match.scores, &PyTuple_Type, &numbers, &PyTuple_Type, &mappings))
        return NULL;
    match.index = (const Index *)index;
    return finished_match(&match, match_documents(&match, run, numbers, mappings));
}

/* ---------------------------------------------------------------------------------------------------- module */

static PyMethodDef index_methods[] = {
    {"topic", index_topic, METH_NOARGS, "Per document, the number of its topic: int64."},
    {"label", index_label, METH_NOARGS, "Per document, its label: float64, NaN for pooled but unjudged."},
    {"ids", index_ids, METH_NOARGS, "The names of the documents."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef index_attributes[] = {
    {"topics", index_topics, NULL, "The topics, in the order of their first appearance.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot index_slots[] = {
    {Py_tp_dealloc, index_dealloc},
    {Py_tp_methods, index_methods},
    {Py_tp_getset, index_attributes},
    {Py_sq_length, index_length},
    {Py_tp_doc, "Judgments by topic and document."},
    {0, NULL},
};

static PyType_Spec index_spec = {
    .name = "gainful._core.native.Index",
    .basicsize = sizeof(Index),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = index_slots,
};

static PyTypeObject *index_type(PyObject *module) { return *(PyTypeObject **)PyModule_GetState(module); }

static int module_exec(PyObject *module) {
    PyObject *word = PyUnicode_FromString("gainful");
    Py_hash_t hash = word ? PyObject_Hash(word) : -1;
    Py_XDECREF(word);
    if (hash == -1 && PyErr_Occurred())
        return -1;
    seed = (uint64_t)hash;
    PyObject *type = PyType_FromModuleAndSpec(module, &index_spec, NULL);
    if (!type)
        return -1;
    *(PyObject **)PyModule_GetState(module) = type;
    return PyModule_AddObjectRef(module, "Index", type) < 0 || PyModule_AddIntMacro(module, SINGLE) < 0 ||
                   PyModule_AddIntMacro(module, EXACT) < 0 || PyModule_AddIntMacro(module, ORDER) < 0 ||
                   PyModule_AddIntMacro(module, EXPECTED) < 0
               ? -1
               : 0;
}

static int module_traverse(PyObject *module, visitproc visit, void *arg) {
    PyObject **state = PyModule_GetState(module);
    if (state)
        Py_VISIT(*state);
    return 0;
}

static int module_clear(PyObject *module) {
    PyObject **state = PyModule_GetState(module);
    if (state)
        Py_CLEAR(*state);
    return 0;
}

static void module_free(void *module) { module_clear(module); }

static PyMethodDef module_functions[] = {
    {"index_text", index_text, METH_VARARGS, "The index of qrels as TREC text."},
    {"index_dict", index_dict, METH_VARARGS, "The index of qrels as a dict of dicts."},
    {"index_columns", index_columns, METH_VARARGS, "The index of qrels as columns."},
    {"match_text", match_text, METH_VARARGS, "The hits of some of a run as TREC text."},
    {"cut_text", cut_text, METH_VARARGS, "Where a text can be cut: at a change of topic."},
    {"match_dict", match_dict, METH_VARARGS, "The hits of a run as a dict of dicts."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, module_exec},
    {0, NULL},
};

static PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "gainful._core.native",
    .m_doc = "The compiled core; see native.pyi.",
    .m_size = sizeof(PyObject *),
    .m_methods = module_functions,
    .m_slots = module_slots,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
    .m_free = module_free,
};

PyMODINIT_FUNC PyInit_native(void) { return PyModuleDef_Init(&module_definition); }
