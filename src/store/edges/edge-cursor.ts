// Encodes an edge's position in the feed as opaque text. Text that an edge sends back is untrusted and validated.

/** A position in the history of one database (see store/feed/change-feed.ts). */
export interface FeedPlace {
  /** A digest of the database's epoch. */
  readonly epoch: string;
  /** Unseen are all transactions from this one on, and those in flight. */
  readonly from: bigint;
  readonly inFlight: readonly bigint[];
  /** The change of the newest transaction that was seen. A database without this change has another history. */
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
  /** Within a snapshot: domains up to this name, in stored form, have been sent. */
  readonly after: string | undefined;
}

export const MAX_CURSOR_CHARACTERS = 8000;
const MAX_IN_FLIGHT = 1000;
const MAX_NAME_CHARACTERS = 1100;
const MAX_XID = (1n << 63n) - 1n;

export function encodeEdgeCursor(cursor: EdgeCursor): string {
  const { from, inFlight } = cursor.place;
  // Distances are shorter than absolute numbers.
  if (inFlight.length <= MAX_IN_FLIGHT) {
    const running = inFlight.map((xid) => Number(from - xid));
    const text = write(cursor, from, running);
    if (text.length <= MAX_CURSOR_CHARACTERS) return text;
  }
  // A longer text would be rejected later. An earlier position repeats some changes instead.
  return write(cursor, lowest(inFlight), []);
}

function write({ region, place, after }: EdgeCursor, from: bigint, running: readonly number[]): string {
  const { epoch, newest } = place;
  const seen = newest === undefined ? null : [newest.name, newest.version, newest.xid.toString()];
  const parts = [1, region, epoch, from.toString(), running, seen, after ?? null];
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

/** Returns undefined if the text is not a cursor of this fleet. */
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

/** Returns null if the value is invalid. */
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
