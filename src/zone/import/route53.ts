// Reads the record sets of Route 53, in the JSON of `aws route53 list-resource-record-sets`, into the records of a zone file.

import { TextError } from '../../dns/errors.ts';
import { encodeName, foldCase, isWithin, type Name, parseName, printName, ROOT } from '../../dns/name.ts';
import { parseRdata } from '../../dns/record/rdata.ts';
import type { Token } from '../../dns/record/token.ts';
import { TYPE, typeCode, typeMnemonic } from '../../dns/type-codes.ts';
import { alignTtls } from '../../dns/zone-file/align-ttls.ts';
import { MAX_TTL_SECONDS } from '../../dns/zone-file/read-record-head.ts';
import type { LeftOutRecord, LineByLine, ZoneFile, ZoneFileRecord } from '../../dns/zone-file/zone-file.ts';
import { ZoneFileLexer } from '../../dns/zone-file/zone-file-lexer.ts';
import { ZoneFileProblems } from '../../dns/zone-file/zone-file-problems.ts';
import { ANAME_CODE } from '../records/customer-types.ts';
import type { ZoneWarning } from '../warnings/zone-warning.ts';
import { aliasWarning } from './aws-aliases.ts';
import { type JsonElement, JsonList } from './json-list.ts';

interface Route53File extends Pick<ZoneFile, 'records' | 'problems' | 'leftOut'> {
  readonly warnings: readonly ZoneWarning[];
}

type JsonObject = Readonly<Record<string, unknown>>;
type Limits = Pick<LineByLine, 'maxProblems' | 'maxRecords' | 'ttlSeconds'>;

const LIST = 'ResourceRecordSets';
const PIECE_SETS = 500;
/** The types of aliases that an ANAME can replace. */
const ALIAS_TYPES: ReadonlySet<number> = new Set([TYPE.A, TYPE.AAAA, TYPE.CNAME]);
/** For each kind of routing: the member that selects it, and the text that reports its loss. */
const ROUTING: readonly (readonly [member: string, lost: string])[] = [
  ['Weight', 'weights of Route 53 are lost'],
  ['Region', 'latency routing of Route 53 is lost'],
  ['GeoLocation', 'geolocation routing of Route 53 is lost'],
  ['GeoProximityLocation', 'geoproximity routing of Route 53 is lost'],
  ['Failover', 'failover of Route 53 is lost'],
  ['MultiValueAnswer', 'health checks of Route 53 are lost'],
];
const OTHER_ROUTING = 'routing of Route 53 is lost';
const ESCAPE = /\\(?:([0-3][0-7]{2})|([0-9]{1,3})|[^0-9])/g;

/** Returns undefined if the JSON is not a list of record sets. */
export function* readRoute53(
  text: string,
  apex: Name,
  limits: Limits,
): Generator<undefined, Route53File | undefined> {
  const list = new JsonList(text, LIST);
  const reader = new Route53Reader(apex, limits);
  let first: JsonElement | undefined;
  try {
    if (!list.open()) return undefined;
    // in a bare list, only the first element shows whether these are record sets
    first = list.isMember ? undefined : list.next();
    if (!list.isMember && !isRecordSet(first?.value)) return undefined;
  } catch (error) {
    if (error instanceof TextError) return undefined;
    throw error;
  }
  for (let index = 0; !reader.isFull; index++) {
    if (index % PIECE_SETS === 0) yield;
    const element = first ?? reader.attempt(() => list.next());
    first = undefined;
    if (element === undefined) break;
    reader.read(element, `${LIST}[${index}]`);
  }
  for (const member of ['NextToken', 'IsTruncated']) {
    if (list.members.get(member)) reader.reportNextPage(member);
  }
  return reader.finish();
}

function isRecordSet(value: unknown): boolean {
  return (
    isObject(value) &&
    'Name' in value &&
    'Type' in value &&
    ('ResourceRecords' in value || 'AliasTarget' in value)
  );
}

class Route53Reader {
  readonly #apex: Name;
  readonly #limits: Limits;
  readonly #problems: ZoneFileProblems;
  readonly #records: ZoneFileRecord[] = [];
  readonly #leftOut: LeftOutRecord[] = [];
  /** By name and type. */
  readonly #routed = new Map<string, RoutedSet>();
  readonly #aliased = new Map<Name, ZoneWarning>();
  /** The first kind of each name that has aliases, addresses or both. An import leaves out the other kind. */
  readonly #firstKind = new Map<Name, Kind>();
  /** The names that have both kinds. */
  readonly #mixed = new Set<Name>();

  constructor(apex: Name, limits: Limits) {
    this.#apex = apex;
    this.#limits = limits;
    this.#problems = new ZoneFileProblems(undefined, limits.maxProblems);
  }

  get isFull(): boolean {
    return this.#problems.areTooMany || this.#records.length > this.#limits.maxRecords;
  }

  /**
   * Returns the result of `read`, or undefined after an error. The error is reported at its own position, or else at `place`.
   */
  attempt<T>(read: () => T, place = { line: 1, column: 1 }): T | undefined {
    return this.#problems.attempt(place, undefined, read);
  }

  reportNextPage(member: string): void {
    this.#problems.add(
      { line: 1, column: 1 },
      `${member}: the list continues in another file, which is not read`,
    );
  }

  read(element: JsonElement, path: string): void {
    this.attempt(() => this.#readSet(element, path), element);
    const { maxRecords } = this.#limits;
    if (this.#records.length > maxRecords) {
      this.#problems.add(element, 'the file has too many records; the rest was not read');
    }
  }

  finish(): Route53File {
    alignTtls(this.#records);
    this.#problems.sort();
    return {
      records: this.#records,
      problems: this.#problems.list,
      leftOut: this.#leftOut,
      warnings: [
        ...this.#aliased.values(),
        ...[...this.#routed.values()].map((set) => this.#routingWarning(set)),
      ],
    };
  }

  #readSet(element: JsonElement, path: string): void {
    const { value: set } = element;
    if (set === undefined) throw new TextError(`${path} is not valid JSON`);
    const object = objectIn(set, path);
    const owner = this.#ownerOf(object, path);
    const type = typeOf(object, path);
    const isAlias = object.AliasTarget !== undefined;
    const before = this.#records.length;
    if (isAlias) this.#readAlias(object, { owner, type, path }, element);
    else this.#readValues(object, { owner, type, path }, element);
    if (this.#records.length === before) return;
    if (isAlias) this.#addKind(owner, 'alias');
    else if (type === TYPE.A || type === TYPE.AAAA) this.#addKind(owner, 'addresses');
    const key = `${type} ${owner}`;
    if (object.SetIdentifier === undefined || this.#routed.has(key)) return;
    const { line, column } = element;
    this.#routed.set(key, { owner, type, isAlias, lost: lostRoutingOf(object), line, column });
  }

  #addKind(owner: Name, kind: Kind): void {
    const first = this.#firstKind.get(owner);
    if (first === undefined) this.#firstKind.set(owner, kind);
    else if (first !== kind) this.#mixed.add(owner);
  }

  #ownerOf(set: JsonObject, path: string): Name {
    const owner = foldCase(nameIn(set, 'Name', path));
    if (isWithin(owner, this.#apex)) return owner;
    throw new TextError(`${path}.Name: ${printName(owner)} is not in the zone ${printName(this.#apex)}`);
  }

  #readAlias(set: JsonObject, { owner, type, path }: SetHead, { line, column }: JsonElement): void {
    const target = nameIn(objectIn(set.AliasTarget, `${path}.AliasTarget`), 'DNSName', `${path}.AliasTarget`);
    if (!ALIAS_TYPES.has(type)) {
      const mnemonic = typeMnemonic(type);
      const reason = `an alias of type ${mnemonic} has no counterpart here: import the records of ${printName(target)} at this name`;
      this.#leftOut.push({ owner, type: mnemonic, reason, file: undefined, line, column });
      return;
    }
    const ttl = this.#limits.ttlSeconds;
    const record = { owner, type: ANAME_CODE, ttl, rdata: encodeName(target), file: undefined, line, column };
    this.#records.push(record);
    if (!this.#aliased.has(owner)) this.#aliased.set(owner, aliasWarning(record));
  }

  #readValues(set: JsonObject, { owner, type, path }: SetHead, element: JsonElement): void {
    const { line, column } = element;
    const values = set.ResourceRecords;
    if (!Array.isArray(values)) throw new TextError(`${path} has neither ResourceRecords nor AliasTarget`);
    const ttl = ttlOf(set, path);
    for (const [i, value] of values.entries()) {
      const rdata = this.attempt(() => rdataOf(type, value, `${path}.ResourceRecords[${i}]`), element);
      if (rdata === undefined) continue;
      this.#records.push({ owner, type, ttl, rdata, file: undefined, line, column });
    }
  }

  #routingWarning({ owner, type, isAlias, lost, line, column }: RoutedSet): ZoneWarning {
    const mnemonic = typeMnemonic(type);
    const message = `the ${lost}: ${this.#answered(owner, type, isAlias)}`;
    return { code: 'ROUTING_LOST', owner, type: mnemonic, message, line, column };
  }

  #answered(owner: Name, type: number, isAlias: boolean): string {
    const mnemonic = typeMnemonic(type);
    const name = printName(owner);
    if (ALIAS_TYPES.has(type) && this.#mixed.has(owner)) {
      return this.#firstKind.get(owner) === 'alias'
        ? `only the first alias of ${name} is answered, and its addresses are not imported`
        : `only the addresses of ${name} are answered, and its alias is not imported`;
    }
    if (isAlias) return `only the first ${mnemonic} alias of ${name} is answered`;
    if (type === TYPE.CNAME) return `only the first CNAME record of ${name} is answered`;
    return `all ${mnemonic} records of ${name} are answered`;
  }
}

function lostRoutingOf(set: JsonObject): string {
  const [, lost] = ROUTING.find(([member]) => set[member] !== undefined) ?? ['', OTHER_ROUTING];
  return lost;
}

type Kind = 'alias' | 'addresses';

interface SetHead {
  readonly owner: Name;
  readonly type: number;
  readonly path: string;
}

interface RoutedSet {
  readonly owner: Name;
  readonly type: number;
  readonly isAlias: boolean;
  /** The text that reports the lost routing. */
  readonly lost: string;
  readonly line: number;
  readonly column: number;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function objectIn(value: unknown, path: string): JsonObject {
  if (isObject(value)) return value;
  throw new TextError(`${path} is not an object`);
}

function textIn(object: JsonObject, member: string, path: string): string {
  const text = object[member];
  if (typeof text === 'string') return text;
  throw new TextError(`${path}.${member} is not a string`);
}

/** Reads a full name, with or without its final dot. */
function nameIn(object: JsonObject, member: string, path: string): Name {
  const text = textIn(object, member, path);
  return at(`${path}.${member}`, () => parseName(withDecimalEscapes(text), ROOT));
}

function typeOf(set: JsonObject, path: string): number {
  const text = textIn(set, 'Type', path);
  const type = typeCode(text);
  if (type === undefined) throw new TextError(`${path}.Type: "${text}" is not a known record type`);
  return type;
}

function ttlOf({ TTL: ttl }: JsonObject, path: string): number {
  const isTtl = typeof ttl === 'number' && Number.isInteger(ttl) && ttl >= 0 && ttl <= MAX_TTL_SECONDS;
  if (!isTtl) throw new TextError(`${path}.TTL is not a number of seconds`);
  return ttl;
}

function rdataOf(type: number, record: unknown, path: string): Uint8Array {
  const text = textIn(objectIn(record, path), 'Value', path);
  return at(`${path}.Value`, () => parseRdata(type, tokensOf(text), ROOT));
}

/** Prepends the path to the message of a TextError, and removes its position, which is relative to the value. */
function at<T>(path: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof TextError)) throw error;
    throw new TextError(`${path}${error instanceof ValueError ? ' ' : ': '}${error.message}`);
  }
}

/** An error whose message continues the sentence that begins with the path. */
class ValueError extends TextError {}

function tokensOf(value: string): readonly Token[] {
  let fault: string | undefined;
  const lexer = new ZoneFileLexer(withDecimalEscapes(value), (_line, column, message) => {
    fault ??= `${message} (character ${column})`;
  });
  const entry = lexer.next();
  const next = lexer.next();
  if (fault !== undefined) throw new TextError(fault);
  if (entry?.comment !== undefined) throw new ValueError('has ";" outside quotes');
  if (entry === undefined) throw new ValueError('is empty');
  if (next !== undefined) throw new ValueError('has several lines');
  return entry.tokens;
}

/** Route 53 writes escapes in octal, zone files in decimal (RFC 1035 §5.1). */
function withDecimalEscapes(text: string): string {
  return text.replace(ESCAPE, (escaped, octal?: string, digits?: string) => {
    if (digits !== undefined) throw new TextError(`"${escaped}" is not an octal escape, \\000 to \\377`);
    return octal === undefined ? escaped : `\\${String(Number.parseInt(octal, 8)).padStart(3, '0')}`;
  });
}
