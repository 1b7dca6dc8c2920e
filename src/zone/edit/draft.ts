// The records after an edit, each with the item that wrote it. Errors of single items are found here, and conflicts in
// the result elsewhere.

import type { Name } from '../../dns/name.ts';
import { type CountryOf, countryOfDestination } from '../records/country.ts';
import {
  type CustomerRecord,
  DEFAULT_SETTINGS,
  type EdgeAddresses,
  type RecordSettings,
  type RecordValue,
  SETTING_NAMES,
  setKey,
} from '../records/customer-record.ts';
import { DEFAULT_TTL_SECONDS, isAddressLike } from '../records/customer-types.ts';
import { parseDestination, printDestination } from '../records/destination.ts';
import { judgeRecord } from '../records/judge-record.ts';
import type {
  Edit,
  EditList,
  EditProblem,
  EditProblemCode,
  NewContent,
  NewRecord,
  RecordChange,
  RecordUpdate,
} from './edit.ts';
import { pairRecords } from './pair-records.ts';

/** The item of an edit that wrote a row. `path` leads to the record inside a replacement. */
export interface EditItem {
  readonly list: EditList;
  readonly index: number;
  readonly path: string;
}

export interface Row {
  readonly before: CustomerRecord | undefined;
  /** The record after the edit. Undefined if it is deleted. */
  after: RecordValue | undefined;
  /** The last item that wrote the record. Undefined if none did. */
  item: EditItem | undefined;
  explicitTtl: number | undefined;
  allowEqualTxt: boolean;
  readonly restores?: NewRecord['restores'];
}

interface Draft {
  readonly rows: readonly Row[];
  readonly problems: readonly EditProblem[];
}

export interface DraftState {
  readonly apex: Name;
  readonly records: readonly CustomerRecord[];
  readonly edges: EdgeAddresses;
  readonly managedIds?: ReadonlySet<number>;
  /** If undefined, only the countries set by the edit are used. */
  readonly countryOf?: CountryOf | undefined;
}

/** Fields of a replacement that are not fields of its records. */
const SET_FIELDS: ReadonlySet<string> = new Set(['name', 'type', 'ttl']);

export const PIECE_ITEMS = 1000;

export function* draftEditInPieces(state: DraftState, edit: Edit): Generator<undefined, Draft> {
  const drafting = new Drafting(state);
  for (const [i, { id, index = i }] of edit.deletes.entries()) drafting.delete(id, index);
  for (const [i, { index = i, ...replacement }] of edit.replaces.entries())
    drafting.replace(replacement, index);
  for (const [i, update] of edit.updates.entries()) {
    if (i % PIECE_ITEMS === PIECE_ITEMS - 1) yield;
    drafting.update(update, update.index ?? i);
  }
  for (const [i, record] of edit.creates.entries()) {
    if (i % PIECE_ITEMS === PIECE_ITEMS - 1) yield;
    drafting.create(record, record.index ?? i);
  }
  return { rows: drafting.rows, problems: drafting.problems };
}

class Drafting {
  readonly rows: Row[];
  readonly problems: EditProblem[] = [];
  readonly #state: DraftState;
  readonly #byId: Map<number, Row>;
  readonly #sets = new Map<string, Row[]>();
  readonly #seen = new Set<string>();

  constructor(state: DraftState) {
    this.#state = state;
    this.rows = state.records.map((before) => ({
      before,
      after: before,
      item: undefined,
      explicitTtl: undefined,
      allowEqualTxt: false,
    }));
    this.#byId = new Map(this.rows.map((row) => [(row.before as CustomerRecord).id, row]));
    for (const row of this.rows) {
      const { name, type, managed } = row.before as CustomerRecord;
      if (managed === true) continue; // a replaced set keeps it
      const key = setKey(name, type);
      const set = this.#sets.get(key);
      if (set === undefined) this.#sets.set(key, [row]);
      else set.push(row);
    }
  }

  delete(id: number, index: number): void {
    const item: EditItem = { list: 'delete', index, path: '' };
    const row = this.#rowOf(id, item);
    if (row === undefined) return;
    row.after = undefined;
    row.item = item;
  }

  /** Replaces the record set with exactly the given records. Records that remain keep every field that the caller omits. */
  replace(wanted: Omit<Edit['replaces'][number], 'index'>, index: number): void {
    const whole: EditItem = { list: 'replace', index, path: '' };
    const { name, type, ttl } = wanted;
    const key = setKey(name, type);
    if (this.#listedTwice(`set ${key}`, whole, 'this record set is replaced twice in one call')) return;
    if (type === 'NS' && name === this.#state.apex && wanted.records.length === 0) {
      this.#report(whole, 'managed', 'the nameservers of the domain itself belong to the service');
      return;
    }
    const held = (this.#sets.get(key) ?? []).filter((row) => row.after !== undefined);
    const wasProxied = held.length > 0 && held.every((row) => row.after?.proxied);
    const { pairs, added, leftOver } = pairRecords(type, held, wanted.records);
    const given = ttl === undefined ? {} : { ttl };
    for (const { content, path, row } of pairs) {
      const value = { ...(row.after as RecordValue), ...settingsIn(content), rdata: content.rdata };
      this.#write(row, value, { ...content, ...given }, { ...whole, path });
    }
    for (const { content, path } of added) {
      // if `proxied` is omitted, new records of a proxied set are proxied too, so that the set stays uniform
      const proxied = content.proxied ?? (wasProxied && isAddressLike(type));
      this.#add({ ...content, ...given, name, type }, { ...whole, path }, proxied);
    }
    for (const row of leftOver) {
      row.after = undefined;
      row.item = whole;
    }
  }

  update({ id, set, allowEqualTxt = false }: RecordUpdate, index: number): void {
    const item: EditItem = { list: 'update', index, path: '' };
    const row = this.#rowOf(id, item);
    if (row?.after === undefined) return;
    const rdata = this.#contentOf(row.after, set, item);
    if (rdata === undefined) return;
    const { name = row.after.name, type = row.after.type } = set;
    row.allowEqualTxt = allowEqualTxt;
    this.#write(row, { ...row.after, ...settingsIn(set), name, type, rdata }, set, item);
  }

  create(record: NewRecord, index: number): void {
    const item: EditItem = { list: 'create', index, path: '' };
    const { restores } = record;
    if (restores !== undefined) {
      if (this.#byId.has(restores.id)) {
        this.#report(item, 'conflict', `record ${restores.id} already exists`);
        return;
      }
      if (this.#listedTwice(`id ${restores.id}`, item, `record ${restores.id} is listed twice`)) return;
    }
    this.#add(record, item, record.proxied ?? DEFAULT_SETTINGS.proxied);
  }

  #add(record: NewRecord, item: EditItem, proxied: boolean): void {
    const { name, type, rdata, allowEqualTxt = false, restores } = record;
    const row: Row = {
      before: undefined,
      after: undefined,
      item,
      explicitTtl: undefined,
      allowEqualTxt,
      ...(restores !== undefined && { restores }),
    };
    this.rows.push(row);
    // Names each field, because spreading is slow and imports are long. The TTL is determined later.
    const value: RecordValue = {
      name,
      type,
      rdata,
      ttl: record.ttl ?? DEFAULT_TTL_SECONDS,
      proxied,
      captcha: record.captcha ?? DEFAULT_SETTINGS.captcha,
      scheme: record.scheme ?? DEFAULT_SETTINGS.scheme,
      port: record.port ?? DEFAULT_SETTINGS.port,
      hostHeader: record.hostHeader ?? DEFAULT_SETTINGS.hostHeader,
      monitor: record.monitor ?? DEFAULT_SETTINGS.monitor,
      destCountry: record.destCountry ?? DEFAULT_SETTINGS.destCountry,
      timeout: record.timeout ?? DEFAULT_SETTINGS.timeout,
      comment: record.comment ?? DEFAULT_SETTINGS.comment,
    };
    this.#write(row, value, record, item);
  }

  #write(
    row: Row,
    value: RecordValue,
    given: Partial<RecordSettings> & { readonly ttl?: number },
    item: EditItem,
  ) {
    for (const { field, message } of judgeRecord(value, given, this.#state)) {
      this.#report(item, 'invalid', message, field);
    }
    row.after = this.#withCountry(row, value, given.destCountry);
    row.item = item;
    if (given.ttl !== undefined) row.explicitTtl = given.ttl;
  }

  /** Determines the country for a new destination, or if the call clears the country. */
  #withCountry({ after: was }: Row, value: RecordValue, given: string | null | undefined): RecordValue {
    const { countryOf } = this.#state;
    if (countryOf === undefined || typeof given === 'string') return value;
    const isSame =
      was !== undefined && was.type === value.type && Buffer.compare(was.rdata, value.rdata) === 0;
    if (isSame && given === undefined) return value;
    const destCountry = countryOfDestination(value, countryOf);
    return destCountry === value.destCountry ? value : { ...value, destCountry };
  }

  /** Returns the rdata after an update, whose text is read by the record's new type. Returns undefined after a problem. */
  #contentOf(was: RecordValue, set: RecordChange, item: EditItem): Uint8Array | undefined {
    const { type = was.type } = set;
    if (set.rdata !== undefined) return set.rdata;
    if (type === was.type && set.destination === undefined && set.mxPriority === undefined) return was.rdata;
    const printed = printDestination(was.type, was.rdata);
    const mxPriority = set.mxPriority ?? (type === 'MX' ? printed.mxPriority : undefined);
    const parsed = parseDestination(
      type,
      set.destination ?? printed.destination,
      mxPriority,
      this.#state.apex,
    );
    if (parsed.kind === 'rdata') return parsed.rdata;
    this.#report(item, 'invalid', parsed.message, parsed.field);
    return undefined;
  }

  /** Returns the existing row with this id. Returns undefined after reporting a problem. */
  #rowOf(id: number, item: EditItem): Row | undefined {
    if (this.#listedTwice(`id ${id}`, item, `record ${id} is listed twice in one call`)) return undefined;
    if (this.#state.managedIds?.has(id)) {
      this.#report(item, 'managed', `record ${id} belongs to the service`);
      return undefined;
    }
    const row = this.#byId.get(id);
    if (row?.after !== undefined) return row;
    this.#report(item, 'not_found', `the domain has no record ${id}`, 'id');
    return undefined;
  }

  #listedTwice(what: string, item: EditItem, message: string): boolean {
    if (this.#isNew(what)) return false;
    this.#report(item, 'invalid', message);
    return true;
  }

  #report({ list, index, path }: EditItem, code: EditProblemCode, message: string, field?: string): void {
    const place = field === undefined || SET_FIELDS.has(field) ? field : `${path}${field}`;
    // report a problem of a whole replacement once, not for each of its records
    if (path !== '' && !this.#isNew(`problem ${list} ${index} ${place}`)) return;
    this.problems.push({ list, index, code, message, ...(place !== undefined && { field: place }) });
  }

  #isNew(what: string): boolean {
    if (this.#seen.has(what)) return false;
    this.#seen.add(what);
    return true;
  }
}

function settingsIn(content: NewContent | RecordChange): Partial<RecordSettings> {
  const settings: Record<string, unknown> = {};
  for (const name of SETTING_NAMES) if (content[name] !== undefined) settings[name] = content[name];
  return settings as Partial<RecordSettings>;
}
