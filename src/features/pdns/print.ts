// Prints zones and their records in the JSON of PowerDNS. Proxied records have their origins, not the published addresses.

import type { DnssecStatus } from '../../checks/dnssec/told/dnssec-status.ts';
import { DIGEST, dsDigest } from '../../dns/dnssec/ds-digest.ts';
import { type Name, nameInRdata, printName } from '../../dns/name.ts';
import { printAddress } from '../../dns/record/ip-address.ts';
import { addressOctets } from '../../dns/record/network.ts';
import { printRdata } from '../../dns/record/rdata.ts';
import { TYPE, typeMnemonic } from '../../dns/type-codes.ts';
import { DNS_PORT } from '../../process/listen-address.ts';
import type { StoredDnssec } from '../../store/dnssec/dnssec-state.ts';
import type { Domain } from '../../store/domains/domain.ts';
import type { ListedRecord } from '../../store/records/load-records.ts';
import { apexRecords } from '../../zone/publish/publish.ts';
import type { CustomerRecord } from '../../zone/records/customer-record.ts';
import { type ApiType, wireTypeCode } from '../../zone/records/customer-types.ts';
import { groupBy } from '../../zone/records/group-by.ts';
import { KEY_FLAGS, SIGNING_ALGORITHM } from '../../zone/signing/signing-key.ts';
import { isEdgeMark, isMark, type ZoneRecord } from '../../zone/zone.ts';
import type { ZoneFacts } from './sql.ts';

export const SERVER = '/api/v1/servers/localhost';

/** A record set in the JSON of PowerDNS. */
export interface PrintedSet {
  readonly name: string;
  readonly type: string;
  readonly ttl: number;
  readonly records: readonly { readonly content: string; readonly disabled: false }[];
  readonly comments: readonly {
    readonly content: string;
    readonly account: '';
    readonly modified_at: number;
  }[];
}

/**
 * Returns the content in the canonical form of PowerDNS, because tools compare the text. Names are full, strings are in
 * quotes and UTF-8, digests are in lower case, and locations have all decimals.
 */
export function printContent(type: ApiType, rdata: Uint8Array): string {
  if (type === 'ANAME') return printName(nameInRdata(rdata));
  const text = printRdata(wireTypeCode(type), rdata);
  if (HEXADECIMAL.has(type)) return text.toLowerCase();
  if (type === 'LOC') return printLocation(text);
  return type === 'TXT' ? text.replace(HIGH_OCTETS, decodeOctets) : text;
}

const HEXADECIMAL: ReadonlySet<ApiType> = new Set(['DS', 'SSHFP', 'TLSA', 'SMIMEA'] as const);

/** Matches consecutive escaped octets outside of ASCII. */
const HIGH_OCTETS = /(?:\\(?:12[89]|1[3-9]\d|2\d\d))+/g;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decodeOctets(escapes: string): string {
  try {
    return utf8.decode(Uint8Array.from(escapes.slice(1).split('\\'), Number));
  } catch {
    return escapes;
  }
}

/** Prints seconds with three decimals, and meters with two. */
function printLocation(text: string): string {
  return text
    .replaceAll(/(\d+(?:\.\d+)?) (?=[NSEW])/g, (_, seconds: string) => `${Number(seconds).toFixed(3)} `)
    .replaceAll(/(-?\d+(?:\.\d+)?)m/g, (_, meters: string) => `${Number(meters).toFixed(2)}m`);
}

export function printType(type: ApiType): string {
  return type === 'ANAME' ? 'ALIAS' : type;
}

/** Groups the records of one name into sets, in the order of their first records. */
function printSets(records: readonly CustomerRecord[]): PrintedSet[] {
  return [...groupBy(records, ({ type }) => type)].map(([type, set]) => {
    const [{ name, ttl }] = set;
    // PowerDNS-Admin assigns comments to records by their positions.
    const commented = set.findLastIndex(({ comment }) => comment !== null) + 1;
    return {
      name: printName(name),
      type: printType(type),
      ttl,
      records: set.map(({ rdata }) => printRecord(printContent(type, rdata))),
      comments: set.slice(0, commented).map(({ comment, updatedAt }) => ({
        content: comment ?? '',
        account: '',
        modified_at: Math.floor(Date.parse(updatedAt) / 1000),
      })),
    };
  });
}

function printRecord(content: string): PrintedSet['records'][number] {
  return { content, disabled: false };
}

/**
 * Yields the SOA and the sets of the records, which must be sorted by name. Omits managed records, except the NS records of
 * the apex.
 */
export async function* setsOfRecords(
  soa: PrintedSet | undefined,
  records: AsyncIterable<ListedRecord>,
  apex: Name,
): AsyncGenerator<PrintedSet> {
  if (soa !== undefined) yield soa;
  let waiting: ListedRecord[] = [];
  for await (const record of records) {
    if (record.managed && (record.type !== 'NS' || record.name !== apex)) continue;
    if (waiting.length > 0 && waiting[0]?.name !== record.name) {
      yield* printSets(waiting);
      waiting = [];
    }
    waiting.push(record);
  }
  yield* printSets(waiting);
}

/** Yields the sets of a zone that was transferred from a primary. */
export function* setsOfCopy(records: readonly ZoneRecord[]): Generator<PrintedSet> {
  const own = records.filter((record) => !isMark(record) && !isEdgeMark(record));
  const sets = groupBy(own, ({ owner, type }) => `${type} ${owner}`);
  for (const set of sets.values()) yield printWireSet(set);
}

function printWireSet(set: readonly ZoneRecord[]): PrintedSet {
  const { owner, type, ttl } = set[0] as ZoneRecord;
  return {
    name: printName(owner),
    type: typeMnemonic(type),
    ttl,
    records: set.map(({ rdata }) => printRecord(printRdata(type, rdata))),
    comments: [],
  };
}

/** Returns the SOA that the service publishes. Returns undefined if the domain has no nameservers here. */
export function soaOf(
  { name, nameserverSets: [nameservers] }: Pick<Domain, 'name' | 'nameserverSets'>,
  serial: number,
  rname: Name,
): PrintedSet | undefined {
  if (nameservers === undefined) return undefined;
  const records = apexRecords({ apex: name, nameservers, serial, rname });
  return printWireSet(records.filter(({ type }) => type === TYPE.SOA));
}

/** Statuses of domains that are unsigned, or will be soon. */
const UNSIGNED: readonly DnssecStatus[] = ['off', 'ds_removal', 'unsigning'];

/** Prints the properties that lists of zones contain. */
export function printZone({ name, serial, dnssecStatus }: Domain, facts: ZoneFacts): object {
  const id = printName(name);
  const shown = facts.copySerial ?? serial;
  return {
    id,
    name: id,
    url: `${SERVER}/zones/${id.replaceAll(/[^A-Za-z0-9._-]/g, escapeOctet)}`,
    kind: kindOf(facts),
    serial: shown,
    edited_serial: shown,
    notified_serial: facts.notifiedSerial ?? 0,
    account: facts.properties.account?.[0] ?? '',
    catalog: '',
    dnssec: !UNSIGNED.includes(dnssecStatus),
    masters: facts.masters.map(printMaster),
    last_check: facts.refreshedAt === null ? 0 : Math.floor(facts.refreshedAt.getTime() / 1000),
  };
}

/** Prints the further properties of a single zone. */
export function printZoneDetails({ properties, transferKeys, primaryKeys }: ZoneFacts): object {
  return {
    api_rectify: properties['API-RECTIFY']?.[0] === '1',
    soa_edit: properties['SOA-EDIT']?.[0] ?? '',
    soa_edit_api: properties['SOA-EDIT-API']?.[0] ?? 'DEFAULT',
    nsec3narrow: false,
    nsec3param: '',
    master_tsig_key_ids: [...new Set(transferKeys)],
    slave_tsig_key_ids: [...new Set(primaryKeys)],
  };
}

/** Returns Slave if the domain has primaries. Otherwise returns the kind that a client chose, if any. */
function kindOf({ masters, isNotified, properties }: ZoneFacts): string {
  if (masters.length > 0) return 'Slave';
  return properties.kind?.[0] ?? (isNotified ? 'Master' : 'Native');
}

/** Escapes a special octet in the id of a zone, such as `=2F`. */
function escapeOctet(octet: string): string {
  return `=${octet.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
}

type StoredKey = StoredDnssec['keys'][number];

/** Prints the keys that are published or will be published, without their private parts. */
export function printCryptokeys(apex: Name, stored: StoredDnssec | undefined): { id: number }[] {
  const machine = stored?.machine;
  if (stored === undefined || !machine) return [];
  const { serving, wanted, goal } = machine;
  return stored.keys.flatMap((key) => {
    const id = String(key.id);
    const published = serving.keys.includes(id);
    const isWanted = goal === 'signed' && (wanted?.sep === id || wanted?.data === id);
    if (key.origin !== 'ours' || !(published || isWanted)) return [];
    const active = serving.dataSigners.includes(id) || serving.keySigners.includes(id);
    return [{ ...printCryptokey(apex, key), active, published }];
  });
}

const ALGORITHM_NAMES = new Map<number, string>(
  Object.entries(SIGNING_ALGORITHM).map(([name, code]) => [code, name]),
);
/** Key size of every algorithm that the fleet signs with. */
const KEY_BITS = 256;

function printCryptokey(apex: Name, { id, role, algorithm, flags, tag, dnskey }: StoredKey) {
  const ds = [DIGEST.SHA256, DIGEST.SHA384].map((digest) => {
    const octets = dsDigest(apex, dnskey, digest) ?? new Uint8Array();
    return `${tag} ${algorithm} ${digest} ${Buffer.from(octets).toString('hex')}`;
  });
  return {
    type: 'Cryptokey',
    id,
    keytype: role,
    algorithm: ALGORITHM_NAMES.get(algorithm) ?? String(algorithm),
    bits: KEY_BITS,
    flags,
    dnskey: printRdata(TYPE.DNSKEY, dnskey),
    ...(flags === KEY_FLAGS.ENTRY && { ds }),
  };
}

export function printMaster({ address, port }: { readonly address: string; readonly port: number }): string {
  const octets = addressOctets(address);
  const text = octets === undefined ? address : printAddress(octets);
  if (port === DNS_PORT) return text;
  return text.includes(':') ? `[${text}]:${port}` : `${text}:${port}`;
}

type Items<T> = AsyncIterable<T> | Iterable<T>;

/** Yields the JSON of a zone with its sets. */
export async function* zoneTexts(zone: object, sets: Items<PrintedSet>): AsyncGenerator<string> {
  yield `${JSON.stringify(zone).slice(0, -1)},"rrsets":`;
  yield* listTexts(sets);
  yield '}';
}

/** Yields the JSON of a list. */
export async function* listTexts(items: Items<object>): AsyncGenerator<string> {
  let before = '[';
  for await (const item of items) {
    yield before + JSON.stringify(item);
    before = ',';
  }
  yield before === '[' ? '[]' : ']';
}

/** Yields a zone file with one record per line and without directives. */
export async function* fileTexts(sets: Items<PrintedSet>): AsyncGenerator<string> {
  for await (const { name, type, ttl, records } of sets)
    yield records.map(({ content }) => `${name}\t${ttl}\tIN\t${type}\t${content}\n`).join('');
}

const PIECE_CHARACTERS = 32_768;

/** Joins texts to larger pieces. Awaits the first piece, so that a database error still results in a 503. */
export async function openTexts(texts: AsyncIterable<string>): Promise<AsyncIterable<string>> {
  const pieces = inPieces(texts);
  const first = await pieces.next();
  return (async function* () {
    if (first.done === true) return;
    yield first.value;
    yield* pieces;
  })();
}

async function* inPieces(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let piece = '';
  for await (const text of texts) {
    piece += text;
    if (piece.length < PIECE_CHARACTERS) continue;
    yield piece;
    piece = '';
  }
  yield piece;
}
