// How far an edge has followed the feed, as the opaque text that it is given and brings back. Everything that comes back is
// judged: an edge may lie.

/** Of the history of one database; see the head of store/feed/change-feed.ts. */
export interface FeedPlace {
  /** A digest of the database's epoch. */
  readonly epoch: string;
  /** Transactions from this one on are unseen, and those in flight. */
  readonly from: bigint;
  readonly inFlight: readonly bigint[];
  /** The change of the newest transaction that was seen: if the database does not have it, its history is another. */
  readonly newest: SeenName | undefined;
}

export interface SeenName {
  readonly name: string;
  readonly version: number;
  readonly xid: bigint;
}

export interface EdgeCursor {
  readonly region: string;
  readonly place: FeedPlace;
  /** In the middle of a snapshot: domains up to this name have been told. The text as stored. */
  readonly after: string | undefined;
}

export const MAX_CURSOR_CHARACTERS = 8000;
const MAX_IN_FLIGHT = 1000;
const MAX_NAME_CHARACTERS = 1100;
const MAX_XID = (1n << 63n) - 1n;

export function encodeEdgeCursor(cursor: EdgeCursor): string {
  const { from, inFlight } = cursor.place;
  // Distances are shorter than whole numbers.
  if (inFlight.length <= MAX_IN_FLIGHT) {
    const running = inFlight.map((xid) => Number(from - xid));
    const text = write(cursor, from, running);
    if (text.length <= MAX_CURSOR_CHARACTERS) return text;
  }
  // More would not be taken back: an earlier place tells some of it again.
  return write(cursor, lowest(inFlight), []);
}

function write({ region, place, after }: EdgeCursor, from: bigint, running: readonly number[]): string {
  const { epoch, newest } = place;
  const seen = newest === undefined ? null : [newest.name, newest.version, newest.xid.toString()];
  const parts = [1, region, epoch, from.toString(), running, seen, after ?? null];
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

/** Undefined: we never gave such a text. */
export function decodeEdgeCursor(text: string): EdgeCursor | undefined {
  if (text.length > MAX_CURSOR_CHARACTERS || !/^[A-Za-z0-9_-]+$/.test(text)) return undefined;
  let parts: unknown;
  try {
    parts = JSON.parse(Buffer.from(text, 'base64url').toString());
  } catch {
    return undefined;
  }
  if (!Array.isArray(parts) || parts.length !== 7) return undefined;
  const [form, region, epoch, start, running, seen, after] = parts as unknown[];
  const from = readXid(start);
  if (form !== 1 || !isText(region, 64) || !isText(epoch, 64) || from === undefined) return undefined;
  if (!Array.isArray(running) || running.length > MAX_IN_FLIGHT) return undefined;
  if (!running.every((each) => Number.isSafeInteger(each) && each > 0 && BigInt(each) < from))
    return undefined;
  const newest = readSeen(seen);
  if (newest === null || (after !== null && !isText(after, MAX_NAME_CHARACTERS))) return undefined;
  const inFlight = (running as number[]).map((each) => from - BigInt(each));
  return { region, place: { epoch, from, inFlight, newest }, after: after ?? undefined };
}

/** Null: it is none. */
function readSeen(seen: unknown): SeenName | undefined | null {
  if (seen === null) return undefined;
  if (!Array.isArray(seen) || seen.length !== 3) return null;
  const [name, version, xidText] = seen as unknown[];
  const xid = readXid(xidText);
  if (!isText(name, MAX_NAME_CHARACTERS) || !Number.isSafeInteger(version) || xid === undefined) return null;
  return { name, version: version as number, xid };
}

function readXid(text: unknown): bigint | undefined {
  if (typeof text !== 'string' || !/^[0-9]{1,19}$/.test(text)) return undefined;
  const xid = BigInt(text);
  return xid <= MAX_XID ? xid : undefined;
}

function isText(value: unknown, characters: number): value is string {
  return typeof value === 'string' && value.length <= characters && /^[\x21-\x7e]*$/.test(value);
}

function lowest(xids: readonly bigint[]): bigint {
  return xids.reduce((least, xid) => (xid < least ? xid : least));
}
