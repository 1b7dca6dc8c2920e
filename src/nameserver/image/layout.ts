// The zone image word by word: what a block of each kind holds and what a reader may rely on. Whoever changes anything
// here counts FORMAT up: images of another format are not read.
//
// An image is one SharedArrayBuffer, written by one thread and read by all. It consists of the header and of blocks.
//
// Refs. A block is named by a ref: its distance from the start of the buffer in units of 8 bytes, an Int32 above 0; 0 is
// nothing. Views cover a segment of 1 GiB each and no block crosses from one into the next, so that every index is a small
// integer: `image.words[segmentOf(ref)][wordOf(ref)]`, `image.bytes[segmentOf(ref)][byteOf(ref)]`.
//
// Words are Int32 in the machine's order of bytes. A number of two words is a Float64 at a multiple of 8 bytes.
//
// Blocks never change once they are published, but for the slots of the zone table. A change makes new blocks and puts
// one ref, the zone's root, in the place of another with Atomics.store. A reader that has loaded a root with Atomics.load
// therefore sees one version of the zone, whole, until it leaves its reader slot (image.ts).
//
// Hash of a name, folded: h(root) is HASH_SEED; h(label.rest) takes the label, with its length octet in front, in chunks of
// four octets (the first octet is the lowest of the chunk, missing ones are 0), and mixes each into h(rest): `mixChunk` in
// hash-name.ts. Indexes are taken from the upper bits of a hash: they depend on every bit of the name, the lower ones do not.

export const UNIT_BYTES = 8;
export const SEGMENT_BYTES = 2 ** 30;
export const SEGMENT_UNITS = SEGMENT_BYTES / UNIT_BYTES;
/** Refs are positive Int32. */
export const MAX_IMAGE_BYTES = 2 ** 31 * UNIT_BYTES;

export function segmentOf(ref: number): number {
  return ref >>> 27;
}

/** The index of a block's first word in its segment. */
export function wordOf(ref: number): number {
  return (ref & 0x7ffffff) << 1;
}

/** The index of a block's first byte in its segment. */
export function byteOf(ref: number): number {
  return (ref & 0x7ffffff) << 3;
}

// ——— Header: the first 16 KiB of segment 0 ———————————————————————————————————————————————————————————————————————————

export const MAGIC = 0x5a464c54;
export const FORMAT = 6;
export const HEADER_BYTES = 16 * 1024;

/** The words of the header. Those from 16 on change often and lie in cache lines of their own. */
export const HEADER = {
  MAGIC: 0,
  FORMAT: 1,
  /** Random, so that an attacker cannot choose names with equal hashes; the factors are odd and made from the seed. */
  HASH_SEED: 2,
  HASH_FACTOR_A: 3,
  HASH_FACTOR_B: 4,
  /** Ref of the zone table: Atomics. Never 0. */
  ZONE_TABLE: 5,
  /**
   * Bit min(labels, 31) is set for every number of labels that an apex has had: other names are not looked up in the
   * table.
   */
  APEX_DEPTHS: 6,
  /** Ref of the sets of regions: Atomics. 0: there are none. */
  EDGE_SETS: 7,

  ZONES: 16,
  RECORDS: 17,
  /** Everything from this ref on is untouched. */
  END: 18,
  /** Units below END that are not free, the header among them. Retired blocks are not free yet. */
  USED: 19,
  /** In units: END stays at or below it. */
  CAPACITY: 20,
  /** 1 while the last change did not fit. */
  FULL: 21,

  /** Counted up by the writer, never 0: Atomics. */
  EPOCH: 32,
} as const;

/** Reader slots: the first word of each is 0, "idle", or the epoch at which the reader entered. Atomics. */
export const READER_SLOTS = 128;
export const READER_SLOTS_AT = 1024;
export const READER_SLOT_WORDS = 16; // a cache line each

// ——— Zone table ——————————————————————————————————————————————————————————————————————————————————————————————————————
//
// Open addressing: capacity pairs of (hash of the apex, ref of the zone root). A search starts at the slot
// `hash >>> (32 - log2 capacity)` and goes on, round the end, to the first slot whose ref is 0: at least 40 % are. A ref of
// REMOVED is a zone that is gone; its slot may be taken for an apex of another hash. The writer stores the hash first and
// then the ref. So a reader compares the apex's octets in the root, always, and loads the ref with Atomics.

export const TABLE = {
  LOG2_CAPACITY: 0,
  /** Slots whose ref is not 0. For the writer. */
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
// Ends with the apex's folded wire name, padded to whole words with zeros, and the index of the zone's names: with log2 buckets = 0
// the one bucket itself, else 2^log2 refs of buckets; a name's is number `hash >>> (32 - log2)`. A bucket is a word with the
// number of names in it, then for each the hash of the full name and the ref of its node; a ref of 0 is a bucket without
// names. In a bucket names have no order. A root with HAS_ORDER has the words of ROOT_ORDER behind all that.

export const ROOT = {
  /** Float64, as are the next two: which content of the store the zone was made of. For the writer. */
  ID: 0,
  VERSION: 2,
  MARK: 4,
  RECORDS: 6,
  NAMES: 7,
  /** How many names are a cut, have a DNAME, are a wildcard. For the writer: readers have the flags. */
  CUTS: 8,
  DNAMES: 9,
  WILDCARDS: 10,

  /** From the lowest byte on: ROOT_FLAG bits, octets of the apex, labels of the apex (the root has 0), log2 buckets. */
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
  /** A name exists whose first label is `*`. */
  HAS_WILDCARD: 4,
  /** There is a mark at the apex: only its SOA and NS are answered. */
  APEX_ONLY: 8,
  /** The zone is ours but cannot be served: the root has no names, no apex node, no counts. */
  NOT_SERVED: 16,
  /** It is answered whole although nothing has proved it: that it is asked for is noted (asked-marks.ts). */
  UNPROVEN: 32,
  /** The words of ROOT_ORDER follow the index. */
  HAS_ORDER: 64,
  /** The SOA has a signature: answers with DO have signatures and proofs. Implies HAS_ORDER. */
  SIGNED: 128,
} as const;

/** Behind the index of a root with HAS_ORDER. */
export const ROOT_ORDER = {
  /** Ref of the order index of what proves that names are not there; 0: nothing does. */
  DENIALS: 0,
  /** Ref of the order index of NSEC3 that prove nothing now. */
  IDLE: 1,
  /** 1: DENIALS are NSEC3, and stand in no other index; 0: they are the names with NSEC. */
  IS_HASHED: 2,
} as const;
export const ROOT_ORDER_WORDS = 3;

// ——— Order index: nodes in the canonical order of their owners (RFC 4034 §6.1), for owners of NSEC3 the order of the hashes —
//
// A leaf is a word `items << 1`, then for each item the first eight octets of the canonical key of its owner
// (src/dns/dnssec/canonical-key.ts) as two words, the first octet highest, each with its highest bit turned over so that they
// compare as signed words; then the ref of the node. A top is a word `items << 1 | 1`, then for each leaf the key of its
// first item and the ref of the leaf. A ref of an index is that of its top, or of the only leaf.

export const ORDER = { SHAPE: 0, ITEMS: 1 } as const;
/** The three words of an item. */
export const ORDER_ITEM = { HIGH: 0, LOW: 1, REF: 2 } as const;
export const ORDER_ITEM_WORDS = 3;
export const MAX_LEAF_ITEMS = 64;
export const MIN_LEAF_ITEMS = 16;

/** Names in a bucket, on average: buckets are doubled above and halved below. */
export const MAX_MEAN_NAMES = 8;
export const MIN_MEAN_NAMES = 2;
export const MAX_LOG2_BUCKETS = 24;

// ——— Sets of regions: what the A and AAAA of names with an edge mark are replaced by —————————————————————————————————
//
// A number of bytes, the number of regions, a byte for each country (`countryNumber`) with its region from 1, 0 being none; then
// for each region four sets of EDGE_SET words: A, A as it was before, AAAA, AAAA as it was before; then their octets, as those of
// sets of nodes are, with a TTL of 0.

export const EDGE_SETS = { BYTES: 0, REGIONS: 1, COUNTRIES: 2 } as const;
const EDGE_COUNTRY_WORDS = 170; // 677 countries
export const EDGE_REGIONS_AT = EDGE_SETS.COUNTRIES + EDGE_COUNTRY_WORDS;
export const SETS_OF_REGION = 4;
export const EDGE_SET_WORDS = 4;
export const EDGE_SET = {
  /** Bytes from the start of the block. */
  AT: 0,
  /** Lower half: octets. Upper half: records; 0: there is no such set. */
  OCTETS: 1,
  /** The two words of its id, the first octet highest. */
  ID: 2,
} as const;

// ——— Node: a name that exists ————————————————————————————————————————————————————————————————————————————————————————
//
// Two words, two words for each record set (three with NODE_FLAG.SIGNED: `setWordsOf`), sets in rising order of type; then
// octets without padding: the owner's labels in front of the apex, folded, and the wire octets of each set, in the same order.
// The octets of a set's signatures follow its own.
//
// The octets of a set are its records as they stand in the answer section, the set being first there and the question's
// name being the owner: owner C0 0C, type, class IN, TTL, RDLENGTH, RDATA. All records of a set have one TTL, its signatures
// too (RFC 4034 §3). A signature is such a record with the signer's name written out (RFC 4034 §3.1.7). RRSIG is no set.
//
// The owners of NSEC3 sets are no names of the zone (RFC 5155 §7.2.8): their nodes have this one set, and stand in an order
// index only.
//
// Let S be where the set starts there: 12 + octets of the owner + 4. In types that may be sent compressed (RFC 3597 §4; see
// `nameFields`) a name in rdata may end in a pointer p; HAS_POINTERS says whether any does. Wherever the name's octets in the
// store and those pointed to differ in case there is none, so what is read at the target is the very name. p leads
//   - into the owner, p < S: to a suffix of the owner that starts at its octet p - 12. Every answer of ours has a question
//     name at or below the apex, so a suffix of the apex stands there too, `octets of the question's name - octets of the
//     owner` further on. A longer suffix (HAS_OWNER_POINTERS) does so where the question's name ends in it: when the set was
//     found at its name, through its wildcard (never is the `*` label part of the suffix), or is the NS of a referral. It
//     does not after a CNAME or DNAME: then write the names out.
//   - into the set, p >= S: to a name of an earlier record or field of this set. It moves with the set, by
//     `where the set starts - S`; p <= MAX_SET_POINTER leaves room for sets that start up to 0x2000 further on.

export const NODE = {
  /** From the lowest byte on: NODE_FLAG bits, octets of the relative owner (0 is the apex); the upper half: record sets. */
  SHAPE: 0,
  /** How many names that exist are one label longer. For the writer. */
  CHILDREN: 1,
  SETS: 2,
} as const;

export const NODE_FLAG = {
  /** Has NS and is not the apex. */
  IS_CUT: 1,
  HAS_DNAME: 2,
  HAS_CNAME: 4,
  /** The name `*.` below this one exists. */
  HAS_WILDCARD_CHILD: 8,
  /** Exists of itself, whether or not it has records or anything is below it. */
  MARKED: 16,
  /** Its first label is `*`. */
  IS_WILDCARD: 32,
  /** A set has signatures: each set has three words. */
  SIGNED: 64,
  /** Has an edge mark: regions may have other sets in place of its A and AAAA. */
  EDGE: 128,
} as const;

/** The words of a set. */
export const SET = {
  /** Lower half: type. Upper half: records. */
  TYPE: 0,
  /** Lower half: octets. Upper half: SET_FLAG bits. */
  OCTETS: 1,
  /** With NODE_FLAG.SIGNED. Lower half: octets of the signatures. Upper half: how many they are. */
  SIGNATURES: 2,
} as const;

/** How many words each set of a node has; `shape` is the node's first word. */
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
