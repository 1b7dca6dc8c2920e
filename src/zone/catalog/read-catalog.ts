// Reads the members of a catalog zone from its records (RFC 9432 §4).

import { foldCase, isWithin, type Name, nameInRdata, prependLabel, printName, ROOT } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { isExpiredMark, type ZoneRecord } from '../zone.ts';

export interface CatalogMember {
  /** Folded, with the final dot. */
  readonly name: string;
  /** The unique label (§4.1), escaped as in zone files. */
  readonly label: string;
  /** Values of the `group` property (§4.3.2), escaped, sorted. */
  readonly groups: readonly string[];
  /** The catalog that may take the member over (§4.3.1). */
  readonly coo: string | undefined;
}

type ReadCatalog =
  | { readonly kind: 'read'; readonly members: ReadonlyMap<string, CatalogMember> }
  /** The catalog must not be processed (§5.1). `why` is a predicate whose subject is the catalog. */
  | { readonly kind: 'broken'; readonly why: string };

interface MemberNode {
  name?: string;
  groups?: string[];
  coo?: string;
}

/** Takes the records of a catalog zone in any order and in pieces, and ignores properties that it does not know (§4.4). */
export class CatalogReader {
  readonly #apex: Name;
  readonly #version: Name;
  readonly #zones: Name;
  readonly #maxMembers: number;
  readonly #nodes = new Map<string, MemberNode>();
  #versions: Uint8Array[] = [];
  #broken: string | undefined;

  /** @param apex folded */
  constructor(apex: Name, { maxMembers }: { readonly maxMembers: number }) {
    this.#apex = apex;
    // An apex that leaves no room for these names has no records there.
    this.#version = prependLabel('version', apex) ?? apex;
    this.#zones = prependLabel('zones', apex) ?? apex;
    this.#maxMembers = maxMembers;
  }

  add(records: Iterable<ZoneRecord>): void {
    for (const record of records) if (this.#broken === undefined) this.#addRecord(record);
  }

  end(): ReadCatalog {
    this.#broken ??= this.#judgeVersion();
    if (this.#broken !== undefined) return { kind: 'broken', why: this.#broken };
    const members = new Map<string, CatalogMember>();
    for (const [octets, { name, groups = [], coo }] of this.#nodes) {
      if (name === undefined) continue; // properties without a member
      const label = printLabel(octets);
      const other = members.get(name);
      if (other !== undefined)
        return { kind: 'broken', why: `lists ${name} under two labels, ${other.label} and ${label}` };
      members.set(name, { name, label, groups: [...new Set(groups)].sort(), coo });
    }
    return { kind: 'read', members };
  }

  #addRecord(record: ZoneRecord): void {
    const { owner, type, rdata } = record;
    if (isExpiredMark(record, this.#apex)) this.#broken = 'has expired';
    if (type === TYPE.TXT && owner === this.#version) this.#versions.push(rdata);
    if ((type !== TYPE.PTR && type !== TYPE.TXT) || !isWithin(owner, this.#zones)) return;
    const [first, second, third] = labelsBefore(owner, this.#zones);
    if (first === undefined || third !== undefined) return;
    if (second === undefined && type === TYPE.PTR) this.#addMember(first, rdata);
    else if (second !== undefined && first === 'coo' && type === TYPE.PTR) this.#addCoo(second, rdata);
    else if (second !== undefined && first === 'group' && type === TYPE.TXT) {
      const node = this.#nodeOf(second);
      const group = printText(rdata);
      node.groups ??= [];
      if (group.length <= MAX_GROUP_CHARACTERS) node.groups.push(group);
    }
  }

  #addMember(label: string, rdata: Uint8Array): void {
    const node = this.#nodeOf(label);
    if (node.name !== undefined) this.#broken = `has two PTR records at the label ${printLabel(label)}`; // §4.1
    node.name = printTarget(rdata);
  }

  #addCoo(label: string, rdata: Uint8Array): void {
    const node = this.#nodeOf(label);
    if (node.coo !== undefined) this.#broken = `has two coo records at the label ${printLabel(label)}`; // §4.3.1
    node.coo = printTarget(rdata);
  }

  #nodeOf(label: string): MemberNode {
    const known = this.#nodes.get(label);
    if (known !== undefined) return known;
    const node: MemberNode = {};
    this.#nodes.set(label, node);
    // Properties without a member take as much memory, so they count, too.
    if (this.#nodes.size > this.#maxMembers) this.#broken = `has more than ${this.#maxMembers} members`;
    return node;
  }

  /** §4.2.1 */
  #judgeVersion(): string | undefined {
    const [version, ...others] = this.#versions;
    if (version === undefined) return 'has no version record';
    if (others.length > 0) return 'has two version records';
    const value = printText(version).slice(0, SHOWN_VALUE);
    return value === '2' ? undefined : `has the version "${value}", not "2"`;
  }
}

const SHOWN_VALUE = 20;
/** Longer groups are ignored: no policy can be chosen for them. */
const MAX_GROUP_CHARACTERS = 255;

/** Returns at most three labels of a name before the ancestor, leftmost first. */
function labelsBefore(name: Name, ancestor: Name): string[] {
  const labels: string[] = [];
  const end = name.length - ancestor.length;
  for (let at = 0; at < end && labels.length < 3; at += 1 + name.charCodeAt(at))
    labels.push(name.slice(at + 1, at + 1 + name.charCodeAt(at)));
  return labels;
}

function printTarget(rdata: Uint8Array): string {
  return printName(foldCase(nameInRdata(rdata)));
}

function printLabel(octets: string): string {
  return printName((prependLabel(octets, ROOT) ?? ROOT) as Name).slice(0, -1);
}

/** Returns the character-strings of TXT rdata as one text, whose other characters are escaped as `\DDD`. */
function printText(rdata: Uint8Array): string {
  let text = '';
  for (let at = 0; at < rdata.length; at += 1 + (rdata[at] as number))
    text += Buffer.from(rdata.subarray(at + 1, at + 1 + (rdata[at] as number))).toString('latin1');
  return text.replace(/[^\x21-\x5b\x5d-\x7e]/g, (char) => `\\${String(char.charCodeAt(0)).padStart(3, '0')}`);
}
