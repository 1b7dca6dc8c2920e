// Finds conflicts between the records in the result of an edit. A conflict is reported for the items that wrote one of
// its records, never for a record that the edit does not touch.

import { type Name, printName } from '../../dns/name.ts';
import type { RecordValue } from '../records/customer-record.ts';
import { isAddressLike } from '../records/customer-types.ts';
import { MAX_SET_OCTETS } from '../records/destination.ts';
import { rdataKey, targetOf } from '../records/rdata-key.ts';
import { namesBetween } from '../records/record-name.ts';
import { type EditItem, PIECE_ITEMS, type Row } from './draft.ts';
import type { EditProblem } from './edit.ts';

type JudgedValue = Pick<RecordValue, 'name' | 'type' | 'rdata' | 'proxied'>;

/** The parts of a row that the search reads. */
export interface JudgedRow extends Pick<Row, 'item' | 'allowEqualTxt'> {
  readonly before: JudgedValue | undefined;
  readonly after: JudgedValue | undefined;
}

/** A row that exists after the edit. */
interface LiveRow extends JudgedRow {
  readonly after: JudgedValue;
}

/** Runs in pieces, so that the caller can do other work in between. */
export function* findConflicts(rows: readonly JudgedRow[], apex: Name): Generator<undefined, EditProblem[]> {
  return yield* new ConflictSearch(apex).run(rows);
}

const SET_ENTRY_OCTETS = 12; // compressed owner, type, class, TTL, length
/** Maximum number of types at one name, as in BIND (CVE-2024-1737). Together with the size of sets it bounds a name's size. */
const MAX_TYPES = 100;

class ConflictSearch {
  readonly #apex: Name;
  readonly #at = new Map<Name, LiveRow[]>();
  /** Written rows by their previous name: deleted and changed ones. */
  readonly #left = new Map<Name, JudgedRow[]>();
  readonly #written = new Set<Name>();
  /** The hosts named by the domain's delegations. */
  readonly #hosts = new Set<Name>();
  /** Written rows by the host that they named before. */
  readonly #formerHosts = new Map<Name, JudgedRow[]>();
  /** The NS records, and the DNAME records, by name. */
  readonly #delegations = new Map<Name, LiveRow[]>();
  readonly #dnames = new Map<Name, LiveRow[]>();
  readonly #problems = new Map<string, EditProblem>();
  #delegationsWritten = false;
  #dnamesWritten = false;

  constructor(apex: Name) {
    this.#apex = apex;
  }

  *#index(rows: readonly JudgedRow[]): Generator<undefined, void> {
    for (const [i, row] of rows.entries()) {
      if (i % PIECE_ITEMS === PIECE_ITEMS - 1) yield;
      if (isLive(row)) {
        const { name, type } = row.after;
        push(this.#at, name, row);
        if (type === 'NS') {
          push(this.#delegations, name, row);
          this.#hosts.add(hostOf(row.after));
        }
        if (type === 'DNAME') push(this.#dnames, name, row);
      }
      if (row.item === undefined) continue;
      for (const value of [row.before, row.after]) {
        if (value === undefined) continue;
        this.#written.add(value.name);
        if (value.type === 'NS') this.#delegationsWritten = true;
        if (value.type === 'DNAME') this.#dnamesWritten = true;
      }
      if (row.before !== undefined) push(this.#left, row.before.name, row);
      if (row.before?.type === 'NS') push(this.#formerHosts, hostOf(row.before), row);
    }
  }

  *run(all: readonly JudgedRow[]): Generator<undefined, EditProblem[]> {
    yield* this.#index(all);
    let judged = 0;
    for (const name of this.#written) {
      if (++judged % PIECE_ITEMS === 0) yield;
      const rows = this.#at.get(name) ?? [];
      if (rows.length > 1) yield* this.#judgeRows(name, rows);
      this.#judgeDelegationDigests(name, rows);
    }
    // a changed delegation affects names that the edit does not write
    if (this.#delegations.size > 0) {
      for (const name of this.#delegationsWritten ? this.#at.keys() : this.#written) {
        if (++judged % PIECE_ITEMS === 0) yield;
        this.#judgeCut(name);
      }
    }
    if (this.#dnames.size > 0) {
      for (const name of this.#dnamesWritten ? this.#at.keys() : this.#written) {
        if (++judged % PIECE_ITEMS === 0) yield;
        this.#judgeBelowDname(name);
      }
    }
    return [...this.#problems.values()];
  }

  *#judgeRows(name: Name, rows: readonly LiveRow[]): Generator<undefined, void> {
    const isLarge = rows.length > PIECE_ITEMS;
    this.#judgeAliases(name, rows);
    if (isLarge) yield;
    this.#judgeDnames(name, rows);
    this.#judgeProxied(name, rows);
    if (isLarge) yield;
    this.#judgeEqual(name, rows);
    if (isLarge) yield;
    this.#judgeSize(name, rows);
    if (isLarge) yield;
  }

  #judgeAliases(name: Name, rows: readonly LiveRow[]): void {
    const aliases = rows.filter(({ after }) => after.type === 'CNAME' || after.type === 'ANAME');
    if (aliases.length > 1) {
      this.#blame(`${printName(name)} can have only one CNAME or ANAME`, aliases); // RFC 2181 §10.1
    }
    const place = printName(name);
    // the first alias of each type has every conflict that others of its type would have
    const judged = new Set<string>();
    for (const alias of aliases) {
      if (alias.after.proxied || judged.has(alias.after.type)) continue;
      judged.add(alias.after.type);
      if (alias.after.type === 'CNAME') {
        const ofAlias = `${place} has other records: a CNAME must be the only record of its name`; // RFC 1034 §3.6.2
        this.#blameBeside(rows, alias, ofAlias, `${place} has a CNAME: no other record can exist there`);
      } else {
        const addressLike = rows.filter((row) => isAddressLike(row.after.type));
        const ofAlias = `${place} has addresses: an ANAME provides its own, so A and AAAA records are not allowed there`;
        const ofOthers = `${place} has an ANAME, which provides its addresses`;
        if (addressLike.length > 1) this.#blameBeside(addressLike, alias, ofAlias, ofOthers);
      }
    }
  }

  #blameBeside(rows: readonly LiveRow[], alias: LiveRow, ofAlias: string, ofOthers: string): void {
    for (const row of rows) this.#blame(row === alias ? ofAlias : ofOthers, [row]);
  }

  #judgeDnames(name: Name, rows: readonly LiveRow[]): void {
    const dnames = rows.filter(({ after }) => after.type === 'DNAME');
    if (dnames.length > 1) this.#blame(`${printName(name)} can have only one DNAME`, dnames); // RFC 6672 §2.4
  }

  /** Names at which a DNAME exists, including the apex, cannot have names below them (RFC 6672 §2.4). */
  #judgeBelowDname(name: Name): void {
    if (name === this.#apex) return;
    const above = [...namesBetween(name, this.#apex), this.#apex].find((each) => this.#dnames.has(each));
    if (above === undefined) return;
    const dnames = this.#dnames.get(above) as LiveRow[];
    const message = `${printName(name)} is below the DNAME at ${printName(above)}: a name below a DNAME cannot have records`;
    for (const row of this.#at.get(name) ?? []) this.#blame(message, [row], dnames);
  }

  #judgeProxied(name: Name, rows: readonly LiveRow[]): void {
    const addressLike = rows.filter(({ after }) => isAddressLike(after.type));
    const proxied = addressLike.filter(({ after }) => after.proxied).length;
    if (proxied > 0 && proxied < addressLike.length) {
      const message = `the A, AAAA, CNAME and ANAME records at ${printName(name)} must all be proxied or none`;
      this.#blame(message, addressLike);
    }
  }

  #judgeEqual(name: Name, rows: readonly LiveRow[]): void {
    const groups = new Map<string, LiveRow[]>();
    for (const row of rows) push(groups, identity(row.after), row);
    for (const [key, group] of groups) {
      if (group.length < 2) continue;
      const comers = group.filter(
        ({ before, after, allowEqualTxt }) =>
          !(before !== undefined && before.name === name && identity(before) === key) &&
          !(allowEqualTxt && after.type === 'TXT'),
      );
      const type = group[0]?.after.type;
      // if all equal records are new, the first of them is not reported
      const blamed = comers.length === group.length ? comers.slice(1) : comers;
      this.#blame(`this ${type} record already exists at ${printName(name)}`, blamed);
    }
  }

  /** Counts unwritten rows first, then reports each row that no longer fits. */
  #judgeSize(name: Name, rows: readonly LiveRow[]): void {
    const sets = new Map<string, LiveRow[]>();
    for (const row of rows) push(sets, row.after.type, row);
    if (sets.size > MAX_TYPES) {
      const added = rows.filter(({ before, after }) => before?.name !== name || before.type !== after.type);
      this.#blame(`${printName(name)} cannot have records of more than ${MAX_TYPES} types`, added);
    }
    for (const [type, set] of sets) {
      let octets = 0;
      const tooMuch: LiveRow[] = [];
      for (const row of set.toSorted((a, b) => Number(a.item !== undefined) - Number(b.item !== undefined))) {
        const withRow = octets + row.after.rdata.length + SET_ENTRY_OCTETS;
        if (octets > 0 && withRow > MAX_SET_OCTETS) tooMuch.push(row);
        else octets = withRow;
      }
      this.#blame(`the ${type} records at ${printName(name)} would not fit into a DNS message`, tooMuch);
    }
  }

  #judgeDelegationDigests(name: Name, rows: readonly LiveRow[]): void {
    const digests = rows.filter(({ after }) => after.type === 'DS');
    if (digests.length === 0 || rows.some(({ after }) => after.type === 'NS')) return;
    const message = `${printName(name)} has a DS but no NS: a DS belongs to a delegation`; // RFC 4035 §2.4
    this.#blame(message, digests, this.#left.get(name) ?? []);
  }

  /**
   * Checks the records at and below a delegation, where the child zone answers: only NS, DS and glue are ever used there.
   * Glue are the addresses of hosts that any delegation of the domain names, including a sibling (RFC 9471 §2.2).
   */
  #judgeCut(name: Name): void {
    const cut = this.#cutAtOrAbove(name);
    if (cut === undefined) return;
    const nameservers = this.#delegations.get(cut) as LiveRow[];
    const former = this.#formerHosts.get(name) ?? [];
    for (const row of this.#at.get(name) ?? []) {
      const { type, proxied } = row.after;
      if (name === cut && (type === 'NS' || type === 'DS')) continue;
      if ((type === 'A' || type === 'AAAA') && !proxied && this.#hosts.has(name)) continue;
      const place = name === cut ? 'is delegated' : `is below the delegation ${printName(cut)}`;
      const message = `${printName(name)} ${place}: only unproxied addresses of hosts that the domain's NS records point to are allowed there`;
      this.#blame(message, [row], former, nameservers, this.#left.get(cut) ?? []);
    }
  }

  /** Returns the topmost cut, as a resolver sees it. The apex does not count: its NS records are not the customer's. */
  #cutAtOrAbove(name: Name): Name | undefined {
    if (name === this.#apex) return undefined;
    let cut: Name | undefined;
    if (this.#delegations.has(name)) cut = name;
    for (const above of namesBetween(name, this.#apex)) if (this.#delegations.has(above)) cut = above;
    return cut;
  }

  /** Reports the conflict for the items of the first group that has any. Each item gets at most one conflict. */
  #blame(message: string, ...groups: (readonly JudgedRow[])[]): void {
    for (const rows of groups) {
      const items = rows.flatMap(({ item }) => (item === undefined ? [] : [item]));
      for (const item of items) this.#report(item, message);
      if (items.length > 0) return;
    }
  }

  #report({ list, index }: EditItem, message: string): void {
    const key = `${list} ${index}`;
    if (!this.#problems.has(key)) this.#problems.set(key, { list, index, code: 'conflict', message });
  }
}

function isLive(row: JudgedRow): row is LiveRow {
  return row.after !== undefined;
}

function hostOf({ rdata }: JudgedValue): Name {
  return targetOf('NS', rdata) as Name;
}

function identity({ type, rdata }: JudgedValue): string {
  return `${type} ${rdataKey(type, rdata)}`;
}

function push<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}
