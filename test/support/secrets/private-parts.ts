// The private parts of all keys in a database, in the formats in which they could be written, and a search in a process's
// memory.

import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { sql } from 'kysely';
import type { Database } from '../../../src/store/postgres/database.ts';
import type { KeyBoxes } from '../../../src/store/secrets/key-boxes.ts';
import type { Secrets } from './secrets.ts';

/** Returns the private parts, as decrypted by a process with the secret. */
export async function privateParts(db: Database, boxes: KeyBoxes): Promise<Buffer[]> {
  const { rows } = await sql<{ id: number; zone: number; box: number; sealed: Buffer; dnskey: string }>`
    select id, signed_zone_id as zone, box_id as box, sealed, encode(decode(lpad(to_hex(flags), 4, '0') || '03'
      || lpad(to_hex(algorithm), 2, '0'), 'hex') || public_key, 'base64') as dnskey
    from signing_keys where sealed is not null order by id`.execute(db);
  return await Promise.all(
    rows.map(({ id, zone, box, sealed, dnskey }) =>
      boxes.unseal(db, { boxId: box, sealed }, [
        'signing key',
        String(id),
        String(zone),
        Buffer.from(dnskey, 'base64').toString('base64'),
      ]),
    ),
  );
}

const WINDOW_OCTETS = 12;

/** Complete, and in windows: PEM breaks its lines, and tools print octets in lines. Twelve octets are not a coincidence. */
export function keepPrivatePart(secrets: Secrets, name: string, octets: Buffer): void {
  secrets.keepOctets(name, octets);
  for (const at of [0, 10, 20]) {
    const window = octets.subarray(at, at + WINDOW_OCTETS);
    secrets.keepOctets(`${name} from octet ${at}`, window);
    const pairs = window.toString('hex').match(/../g) as string[];
    secrets.keep(`${name} from octet ${at} in pairs`, pairs.join(' '));
    secrets.keep(`${name} from octet ${at} in numbers`, [...window].join(','));
    const members = JSON.stringify({ ...window }).slice(1, -1);
    if (at === 0) secrets.keep(`${name} from octet ${at} as an object`, members);
  }
}

const CHUNK_BYTES = 1 << 24;
const OVERLAP_BYTES = 256;

/** Returns those that a process's memory contains, as a core dump would. */
export function findInMemory(pid: number, wanted: ReadonlyMap<string, Buffer>): string[] {
  const found = new Set<string>();
  const memory = openSync(`/proc/${pid}/mem`, 'r');
  const chunk = Buffer.alloc(CHUNK_BYTES);
  try {
    for (const [from, to] of readableRanges(pid)) {
      for (let at = from; at < to; at += CHUNK_BYTES - OVERLAP_BYTES) {
        const read = readSome(memory, chunk, Math.min(CHUNK_BYTES, to - at), at);
        const seen = chunk.subarray(0, read);
        for (const [name, octets] of wanted) if (seen.includes(octets)) found.add(name);
      }
    }
  } finally {
    closeSync(memory);
  }
  return [...found].sort();
}

function readableRanges(pid: number): [from: number, to: number][] {
  return readFileSync(`/proc/${pid}/maps`, 'utf8')
    .split('\n')
    .map((line) => /^([0-9a-f]+)-([0-9a-f]+) r(?!.*\[v)/.exec(line))
    .filter((match) => match !== null)
    .map(([, from, to]) => [Number.parseInt(from as string, 16), Number.parseInt(to as string, 16)]);
}

/** Returns zeros if the range no longer exists. */
function readSome(memory: number, into: Buffer, bytes: number, at: number): number {
  try {
    return readSync(memory, into, 0, bytes, at);
  } catch {
    return 0;
  }
}

/** Returns a private part as stored in memory: as octets and as text. */
export function formsInMemory(name: string, octets: Buffer): [name: string, form: Buffer][] {
  const first = octets.subarray(0, WINDOW_OCTETS);
  return [
    [`${name} as octets`, first],
    [`${name} in hex`, Buffer.from(first.toString('hex'))],
    [`${name} in base64`, Buffer.from(first.toString('base64'))],
    [`${name} in base64url`, Buffer.from(first.toString('base64url'))],
  ];
}
