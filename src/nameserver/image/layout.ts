// The zone image word by word: the content of each kind of block, and the guarantees for readers. Increment FORMAT with
// every change here: images of another format are not read.
//
// An image is one SharedArrayBuffer, written by one thread and read by all. It consists of the header and blocks.
//
// Refs. A block is identified by a ref: its offset in the buffer in units of 8 bytes, an Int32 above 0; 0 means none. A
// view covers a segment of 1 GiB, and no block crosses the border between two segments, so that every index is a small
// integer: `image.words[segmentOf(ref)][wordOf(ref)]`, `image.bytes[segmentOf(ref)][byteOf(ref)]`.
//
// Words are Int32 in the machine's byte order. A number of two words is a Float64 at a multiple of 8 bytes.
//
// Published blocks never change, except for the slots of the zone table. A change writes new blocks and replaces one ref,
// the zone's root, with Atomics.store. A reader that has loaded a root with Atomics.load therefore sees one whole version
// of the zone until it leaves its reader slot (image.ts).
//
// Hash of a folded name: h(root) is HASH_SEED. h(label.rest) splits the label, including its length octet, into chunks of
// four octets (the first octet is the lowest of the chunk, missing ones are 0), and mixes each into h(rest) with `mixChunk`
// (hash-name.ts). Indexes use the upper bits of a hash: unlike the lower ones, they depend on every bit of the name.

export const UNIT_BYTES = 8;
export const SEGMENT_BYTES = 2 ** 30;
export const SEGMENT_UNITS = SEGMENT_BYTES / UNIT_BYTES;
/** Refs are positive Int32. */
export const MAX_IMAGE_BYTES = 2 ** 31 * UNIT_BYTES;

export function segmentOf(ref: number): number {
  return ref >>> 27;
}

/** Returns the index of a block's first word in its segment. */
export function wordOf(ref: number): number {
  return (ref & 0x7ffffff) << 1;
}

/** Returns the index of a block's first byte in its segment. */
export function byteOf(ref: number): number {
  return (ref & 0x7ffffff) << 3;
}

// ——— Header: the first 16 KiB of segment 0 ———————————————————————————————————————————————————————————————————————————

export const MAGIC = 0x5a464c54;
export const FORMAT = 8;
export const HEADER_BYTES = 16 * 1024;

/** The words of the header. Those from 16 on change often and have cache lines of their own. */
export const HEADER = {
  MAGIC: 0,
  FORMAT: 1,
  /** Random, so that an attacker cannot choose names with equal hashes. The factors are odd and derived from the seed. */
  HASH_SEED: 2,
  HASH_FACTOR_A: 3,
  HASH_FACTOR_B: 4,
  /** Ref of the zone table, never 0. Accessed with Atomics. */
  ZONE_TABLE: 5,
  /** Bit min(labels, 31) is set for each number of labels that an apex has had. Other names need no lookup. */
  APEX_DEPTHS: 6,
  /** Ref of the edge sets of regions, or 0. Accessed with Atomics. */
  EDGE_SETS: 7,

  ZONES: 16,
  RECORDS: 17,
  /** Everything from this ref on is untouched. */
  END: 18,
  /** Units below END that are not free, including the header. Retired blocks are not free yet. */
  USED: 19,
  /** Upper bound of END, in units. */
  CAPACITY: 20,
  /** 1 if the last change did not fit. */
  FULL: 21,

  /** Incremented by the writer, never 0. Accessed with Atomics. */
  EPOCH: 32,
} as const;

/** Reader slots. The first word of each is 0 if idle, or the epoch at which the reader entered. Accessed with Atomics. */
export const READER_SLOTS = 128;
export const READER_SLOTS_AT = 1024;
export const READER_SLOT_WORDS = 16; // one cache line each

// ——— Zone table ——————————————————————————————————————————————————————————————————————————————————————————————————————
//
// Open addressing: pairs of (hash of the apex, ref of the zone root). A search starts at the slot `hash >>> (32 - log2
// capacity)` and continues, wrapping around, to the first slot with ref 0; at least 40 % have it. REMOVED is the ref of
// a deleted zone; its slot may be reused for another hash. The writer stores the hash first and then the ref. A reader
// must therefore always compare the apex's octets in the root, and load the ref with Atomics.

export const TABLE = {
  LOG2_CAPACITY: 0,
  /** Number of slots whose ref is not 0. Used by the writer. */
  TAKEN: 1,
  SLOTS: 2,
} as const;
export const TABLE_SLOT_WORDS = 2;
export const REMOVED = -1;
export const MIN_LOG2_CAPACITY = 8;
export const MAX_LOG2_CAPACITY = 26;

export function unitsForTable(log2Capacity: number): number {
  return ((TABLE.SLOTS + (TABLE_SLOT_WORDS << log2Capacity)) * 4) / UNIT_BYTES;
}

// ——— Zone root ———————————————————————————————————————————————————————————————————————————————————————————————————————
//
// Ends with the apex's folded wire name, zero-padded to whole words, and the index of the zone's names. If log2 buckets
// = 0, the index is the only bucket, else 2^log2 refs of buckets; a name is in bucket `hash >>> (32 - log2)`. A bucket
// is a word with its number of names, then for each name the hash of the full name and the ref of its node, in no
// particular order. A ref of 0 is an empty bucket. A root with HAS_ORDER has the words of ROOT_ORDER after the index.

export const ROOT = {
  /** Float64, like the next two: the store's content from which the zone was built. Used by the writer. */
  ID: 0,
  VERSION: 2,
  MARK: 4,
  RECORDS: 6,
  NAMES: 7,
  /** Numbers of cuts, DNAMEs and wildcards. Used by the writer: readers use the flags. */
  CUTS: 8,
  DNAMES: 9,
  WILDCARDS: 10,

  /**
   * From the lowest byte: ROOT_FLAG bits, octets of the apex, labels of the apex (0 for the root, at most 127) and
   * ROOT_FLAG.EXPIRED, log2 buckets (5 bits) and ROOT_FLAG.PRIVATE. The two highest bits are 0.
   */
  SHAPE: 11,
  /** Ref of the apex's node. */
  APEX_NODE: 12,
  /** Unsigned. */
  SERIAL: 13,
  /** TTL of the SOA in negative answers (RFC 2308 §5). */
  NEGATIVE_TTL: 14,
  APEX: 15,
} as const;

export const ROOT_FLAG = {
  /** A name below the apex has NS. */
  HAS_CUT: 1,
  HAS_DNAME: 2,
  /** A name whose first label is `*` exists. */
  HAS_WILDCARD: 4,
  /** The apex is marked: only its SOA and NS are answered. */
  APEX_ONLY: 8,
  /** The zone belongs to the fleet but cannot be served: the root has no names, no apex node and no counts. */
  NOT_SERVED: 16,
  /** The whole zone is answered although it is unproven, and its queries are recorded (asked-marks.ts). */
  UNPROVEN: 32,
  /** The words of ROOT_ORDER follow the index. */
  HAS_ORDER: 64,
  /** The SOA is signed: answers with DO have signatures and proofs. Implies HAS_ORDER. */
  SIGNED: 128,
  /** The zone is an expired copy of a primary's: its queries get SERVFAIL. The highest bit of the octet of labels. */
  EXPIRED: 1 << 23,
  /** Only peers may read the zone: other queries are refused. */
  PRIVATE: 1 << 29,
} as const;
export const ROOT_FLAGS = 0xff | ROOT_FLAG.EXPIRED | ROOT_FLAG.PRIVATE;

/** Returns the number of labels of the apex; `shape` is ROOT.SHAPE. */
export function apexLabelsOf(shape: number): number {
  return (shape >>> 16) & 0x7f;
}

/** Returns log2 of the number of buckets; `shape` is ROOT.SHAPE. */
export function log2BucketsIn(shape: number): number {
  return (shape >>> 24) & 0x1f;
}

/** Follows the index of a root with HAS_ORDER. */
export const ROOT_ORDER = {
  /** Ref of the order index of the NSEC or NSEC3 that prove denials, or 0. */
  DENIALS: 0,
  /** Ref of the order index of NSEC3 that currently prove nothing. */
  IDLE: 1,
  /** 1 if DENIALS are NSEC3, which are in no other index; 0 if they are the names with NSEC. */
  IS_HASHED: 2,
} as const;
export const ROOT_ORDER_WORDS = 3;

// ——— Order index: nodes in the canonical order of their owners (RFC 4034 §6.1), for owners of NSEC3 the order of the hashes —
//
// A leaf is a word `items << 1`, then for each item the first eight octets of its owner's canonical key
// (src/dns/dnssec/canonical-key.ts) as two words, the first octet highest, each with its highest bit inverted so that
// they compare as signed words, and the ref of the node. A top is a word `items << 1 | 1`, then for each leaf the key
// of its first item and the ref of the leaf. The ref of an index is that of its top, or of its only leaf.

export const ORDER = { SHAPE: 0, ITEMS: 1 } as const;
export const ORDER_ITEM = { HIGH: 0, LOW: 1, REF: 2 } as const;
export const ORDER_ITEM_WORDS = 3;
export const MAX_LEAF_ITEMS = 64;
export const MIN_LEAF_ITEMS = 16;

/** Average number of names in a bucket: the number of buckets is doubled above and halved below. */
export const MAX_MEAN_NAMES = 8;
export const MIN_MEAN_NAMES = 2;
export const MAX_LOG2_BUCKETS = 24;

// ——— Edge sets: they replace the A and AAAA sets of names with an edge mark ———————————————————————————————————————————
//
// The number of bytes, the number of regions, and a byte for each country (`countryNumber`) with the number of its
// region, or 0 for none. Then for each region four sets of EDGE_SET words: A, the previous A, AAAA, the previous AAAA.
// Then their octets, in the form of a node's sets, with a TTL of 0.

export const EDGE_SETS = { BYTES: 0, REGIONS: 1, COUNTRIES: 2 } as const;
const EDGE_COUNTRY_WORDS = 170; // 677 countries
export const EDGE_REGIONS_AT = EDGE_SETS.COUNTRIES + EDGE_COUNTRY_WORDS;
export const SETS_OF_REGION = 4;
export const EDGE_SET_WORDS = 4;
export const EDGE_SET = {
  /** Offset in bytes from the start of the block. */
  AT: 0,
  /** Lower half: octets. Upper half: records, or 0 if there is no such set. */
  OCTETS: 1,
  /** The two words of the set's id, the first octet highest. */
  ID: 2,
} as const;

// ——— Node: a name that exists ————————————————————————————————————————————————————————————————————————————————————————
//
// Two words, two words per record set (three with NODE_FLAG.SIGNED: `setWordsOf`), in ascending order of type. Then
// octets without padding: the owner's labels above the apex, folded, and the wire octets of each set, in the same
// order. The octets of a set's signatures follow its own.
//
// The octets of a set are its records as in an answer section in which the set is first and the query name is the
// owner: owner C0 0C, type, class IN, TTL, RDLENGTH, RDATA. All records of a set and its signatures have one TTL (RFC
// 4034 §3). A signature is such a record with the signer's name uncompressed (RFC 4034 §3.1.7). There is no RRSIG set.
//
// The owners of NSEC3 sets are not names of the zone (RFC 5155 §7.2.8): their nodes have only this set, and are only in
// an order index.
//
// Let S be the offset of the set in that answer: 12 + octets of the owner + 4. In types that may be sent compressed
// (RFC 3597 §4; see `nameFields`), a name in rdata may end in a pointer p; HAS_POINTERS is set if any does. A name
// whose case differs from that of its target has no pointer, so the target is always identical. p leads
//   - into the owner (p < S), to the suffix that starts at octet p - 12 of the owner. The query name of every answer is
//     at or below the apex, so it contains each suffix of the apex, `octets of the query name - octets of the owner`
//     further on. It contains a longer suffix (HAS_OWNER_POINTERS) only if the set was found at its name, through its
//     wildcard (the `*` label is never part of the suffix), or is the NS set of a referral. After a CNAME or DNAME it
//     does not: then write the names out.
//   - into the set (p >= S), to a name in an earlier record or field of this set. The pointer moves with the set, by
//     `start of the set - S`. p <= MAX_SET_POINTER allows sets to start up to 0x2000 further on.

export const NODE = {
  /** From the lowest byte: NODE_FLAG bits, octets of the relative owner (0 for the apex); upper half: record sets. */
  SHAPE: 0,
  /** Number of existing names that are one label longer. Used by the writer. */
  CHILDREN: 1,
  SETS: 2,
} as const;

export const NODE_FLAG = {
  /** The node has NS and is not the apex. */
  IS_CUT: 1,
  HAS_DNAME: 2,
  HAS_CNAME: 4,
  /** The wildcard `*` directly below this name exists. */
  HAS_WILDCARD_CHILD: 8,
  /** The name exists even without records and without names below it. */
  MARKED: 16,
  /** The first label is `*`. */
  IS_WILDCARD: 32,
  /** A set is signed, so that each set has three words. */
  SIGNED: 64,
  /** The node has an edge mark: regions may replace its A and AAAA sets. */
  EDGE: 128,
} as const;

export const SET = {
  /** Lower half: type. Upper half: records. */
  TYPE: 0,
  /** Lower half: octets. Upper half: SET_FLAG bits. */
  OCTETS: 1,
  /** Only with NODE_FLAG.SIGNED. Lower half: octets of the signatures. Upper half: their number. */
  SIGNATURES: 2,
} as const;

/** Returns the number of words per set of a node; `shape` is the node's first word. */
export function setWordsOf(shape: number): number {
  return 2 + ((shape >>> 6) & 1);
}

export const SET_FLAG = {
  HAS_POINTERS: 1 << 16,
  HAS_OWNER_POINTERS: 1 << 17,
} as const;

export const MAX_SET_POINTER = 0x1fff;
/** Owner C0 0C, type, class, TTL, RDLENGTH. */
export const RECORD_HEAD_OCTETS = 12;
