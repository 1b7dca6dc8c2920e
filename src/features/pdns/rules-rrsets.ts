// Reads the rrsets of requests. Names, types and contents must have the canonical form that PowerDNS requires.

import type { Problem } from '../../api/answers/problem.ts';
import { isWithin, type Name, nameInRdata } from '../../dns/name.ts';
import { hostWordOf } from '../../dns/zone-file/host-word.ts';
import {
  type ApiType,
  MAX_COMMENT_CHARACTERS,
  MAX_TTL_SECONDS,
  MIN_TTL_SECONDS,
  readApiType,
  wireTypeCode,
} from '../../zone/records/customer-types.ts';
import { parseDestination } from '../../zone/records/destination.ts';
import { rdataKey } from '../../zone/records/rdata-key.ts';
import { type JsonObject, judgeTypes, membersOf, readCanonical, refuse, textIn } from './rules.ts';

export const MAX_RRSETS = 20_000;

const CHANGE_TYPES = ['REPLACE', 'DELETE', 'EXTEND', 'PRUNE'] as const;
type ChangeType = (typeof CHANGE_TYPES)[number];

interface ChangeBase {
  readonly name: Name;
  readonly change: ChangeType;
  /** Describes the set in problems, such as `RRset www.example.com. IN A`. */
  readonly label: string;
}

/** A change of one record set. */
export interface SetChange extends ChangeBase {
  readonly type: ApiType;
  /** TTL within the range of this service. Undefined if the set keeps its TTL. */
  readonly ttl: number | undefined;
  /** Undefined if the records do not change. */
  readonly records: readonly Uint8Array[] | undefined;
  /** Comments by the positions of the records. Undefined if the comments do not change. */
  readonly comments: readonly string[] | undefined;
}

/** A change of the SOA. `soas` are its contents as text, in PowerDNS's form. */
export interface SoaChange extends ChangeBase {
  readonly type: 'SOA';
  readonly soas: readonly string[];
}

export type Change = SetChange | SoaChange;

/** Reads the rrsets of a PATCH. */
export function readChanges(body: unknown, apex: Name): readonly Change[] | Problem {
  const { rrsets } = membersOf(body);
  if (!Array.isArray(rrsets)) return refuse('No rrsets given in update request');
  return readAll(rrsets, apex, (members) => textIn(members, 'changetype'));
}

/** Reads the rrsets of a zone, which have no changetype. Returns undefined if they are absent. */
export function readContent(rrsets: unknown, apex: Name): readonly Change[] | Problem | undefined {
  if (rrsets === undefined || rrsets === null) return undefined;
  if (!Array.isArray(rrsets)) return refuse("Key 'rrsets' is not a list");
  return readAll(rrsets, apex, () => 'REPLACE');
}

function readAll(
  rrsets: readonly unknown[],
  apex: Name,
  changeOf: (members: JsonObject) => string | Problem,
): readonly Change[] | Problem {
  if (rrsets.length > MAX_RRSETS) return refuse(`a request may have ${MAX_RRSETS} rrsets`);
  const changes: Change[] = [];
  const seen = new Set<string>();
  for (const rrset of rrsets) {
    const members = membersOf(rrset);
    const change = changeOf(members);
    if (typeof change !== 'string') return change;
    const read = readOne(members, change.toUpperCase(), apex);
    if ('status' in read) return read;
    const key = `${read.change} ${read.type} ${read.name}`;
    const isOnce = read.change === 'REPLACE' || read.change === 'DELETE';
    if (isOnce && seen.has(key)) return refuse(`Duplicate ${read.label} with changetype: ${read.change}`);
    seen.add(key);
    changes.push(read);
  }
  return changes;
}

function readOne(members: JsonObject, changeText: string, apex: Name): Change | Problem {
  const nameText = textIn(members, 'name');
  if (typeof nameText !== 'string') return nameText;
  const name = readCanonical(nameText);
  if (typeof name !== 'string') return name;
  const typeText = textIn(members, 'type');
  if (typeof typeText !== 'string') return typeText;
  const label = `RRset ${nameText} IN ${typeText.slice(0, 20)}`;
  const change = CHANGE_TYPES.find((each) => each === changeText);
  if (change === undefined) return refuse('Changetype not understood');
  if (!isWithin(name, apex)) return refuse(`${label}: Name is out of zone`);
  const base = { name, change, label };
  if (typeText.toUpperCase() === 'SOA') {
    const contents = change === 'DELETE' ? [] : readContents(members.records ?? []);
    return 'status' in contents ? contents : { ...base, type: 'SOA', soas: contents };
  }
  // PowerDNS calls it ALIAS.
  const known = readApiType(typeText.toUpperCase() === 'ALIAS' ? 'ANAME' : typeText);
  if (known.kind === 'problem') return refuse(`${label}: unknown type given: ${known.message}`);
  return readSet(members, { ...base, type: known.type }, apex);
}

function readSet(
  members: JsonObject,
  base: ChangeBase & { readonly type: ApiType },
  apex: Name,
): SetChange | Problem {
  const { change, label, type } = base;
  if (change === 'DELETE') return { ...base, ttl: undefined, records: [], comments: undefined };
  const isReplace = change === 'REPLACE';
  const wrong = judgeTypes(members, 'List', ['records', 'comments']);
  if (wrong !== undefined) return wrong;
  const comments = isReplace ? readComments(members.comments, label) : undefined;
  if (comments !== undefined && 'status' in comments) return comments;
  if (!Array.isArray(members.records)) {
    if (comments === undefined) return refuse(`No change for ${label}`);
    return { ...base, ttl: undefined, records: undefined, comments };
  }
  // An extended set may keep its TTL, and the TTL of a removed record does not matter.
  const hasTtl = isReplace ? members.records.length > 0 : change === 'EXTEND' && members.ttl !== undefined;
  const ttl = hasTtl ? readTtl(members.ttl) : undefined;
  if (typeof ttl === 'object') return ttl;
  const contents = readContents(members.records);
  if ('status' in contents) return contents;
  if (!isReplace && contents.length === 0) return refuse(`No change for ${label}`);
  const records: Uint8Array[] = [];
  const seen = new Set<string>();
  for (const content of contents) {
    const parsed = parseContent(type, content, apex);
    if (typeof parsed === 'string')
      return refuse(`Record ${label.slice(6)} '${content.slice(0, 100)}': ${parsed}`);
    const key = rdataKey(type, parsed);
    if (seen.has(key)) return refuse(`Duplicate record in ${label} with content "${content.slice(0, 100)}"`);
    seen.add(key);
    records.push(parsed);
  }
  return { ...base, ttl, records, comments };
}

/** Reads a TTL, also as a string, like PowerDNS. Moves it into the range of this service. */
function readTtl(value: unknown): number | Problem {
  const ttl = typeof value === 'string' && /^-?\d{1,10}$/.test(value) ? Number(value) : value;
  if (typeof ttl !== 'number' || !Number.isInteger(ttl))
    return refuse("Key 'ttl' not an Integer or not present");
  return Math.min(Math.max(ttl, MIN_TTL_SECONDS), MAX_TTL_SECONDS);
}

function readContents(records: unknown): string[] | Problem {
  if (!Array.isArray(records)) return refuse("Key 'records' is not a list");
  const contents: string[] = [];
  for (const record of records) {
    const members = membersOf(record);
    const content = textIn(members, 'content');
    if (typeof content !== 'string') return content;
    const { disabled = false } = members;
    if (typeof disabled !== 'boolean') return refuse("Key 'disabled' not present or not a Bool");
    if (disabled) return refuse('disabled: records cannot be disabled here: delete them instead');
    contents.push(content);
  }
  return contents;
}

/** Reads the comments of a set. Each becomes the comment of the record at the same position. */
function readComments(comments: unknown, label: string): readonly string[] | undefined | Problem {
  if (!Array.isArray(comments)) return undefined;
  const texts: string[] = [];
  for (const comment of comments) {
    const content = textIn(membersOf(comment), 'content');
    if (typeof content !== 'string') return content;
    if (content.length > MAX_COMMENT_CHARACTERS)
      return refuse(`${label}: a comment has more than ${MAX_COMMENT_CHARACTERS} characters`);
    texts.push(content);
  }
  return texts;
}

const MX = /^\s*(\d{1,5})\s+(\S+)\s*$/;

/** Returns the rdata, or the reason why the content is not valid. */
function parseContent(type: ApiType, content: string, apex: Name): Uint8Array | string {
  if (type === 'TXT' && !content.startsWith('"')) return 'Not in expected format (texts must be in quotes)';
  const host = hostOf(type, content);
  if (host !== undefined && !host.endsWith('.') && !content.startsWith('\\#'))
    return `Not in expected format (expected the full name '${host}.')`;
  if (type !== 'MX') return rdataOf(type, content, undefined, apex);
  const [, priority, exchange] = MX.exec(content) ?? [];
  if (priority === undefined || exchange === undefined) return 'expected a priority and a full name';
  return rdataOf(type, exchange, Number(priority), apex);
}

function rdataOf(type: ApiType, text: string, priority: number | undefined, apex: Name): Uint8Array | string {
  const parsed = parseDestination(type, text, priority, apex);
  return parsed.kind === 'rdata' ? parsed.rdata : parsed.message;
}

/** Returns the host name in the content. Returns undefined if the type has none. */
function hostOf(type: ApiType, content: string): string | undefined {
  const at = type === 'ANAME' ? 0 : hostWordOf(wireTypeCode(type));
  if (at === undefined) return undefined;
  // The words of NAPTR before its host may contain spaces in quotes.
  const words = content.trim().match(/"(?:[^"\\]|\\.)*"|\S+/g) ?? [];
  return words[at];
}

/** Returns the nameservers of the apex after a change. `current` are those before it. */
export function nameserversAfter(
  { change, records = [] }: SetChange,
  current: readonly Name[],
): readonly Name[] {
  const names = records.map((rdata) => nameInRdata(rdata));
  if (change === 'REPLACE' || change === 'DELETE') return names;
  const keys = new Set(names.map((name) => name.toLowerCase()));
  const others = current.filter((name) => !keys.has(name.toLowerCase()));
  return change === 'EXTEND' ? [...others, ...names] : others;
}
