// Reads a batch with the API's field names into an edit. Converts names and destinations to octets, and reports every
// error in the text for its item.

import type { Name } from '../../dns/name.ts';
import type { OriginScheme, RecordSettings } from '../records/customer-record.ts';
import type { ApiType } from '../records/customer-types.ts';
import { parseDestination } from '../records/destination.ts';
import { parseRecordName } from '../records/record-name.ts';
import type { Edit, EditList, EditProblem, NewContent, NewRecord, RecordChange } from './edit.ts';

export interface ContentText {
  readonly destination: string;
  readonly mx_priority?: number | undefined;
  readonly ttl?: number | undefined;
  readonly proxied?: boolean | undefined;
  readonly captcha?: boolean | undefined;
  readonly scheme?: OriginScheme | undefined;
  readonly port?: number | undefined;
  /** '' removes it, as for `comment` and `dest_country`. */
  readonly host_header?: string | undefined;
  readonly monitor?: boolean | undefined;
  readonly dest_country?: string | undefined;
  readonly timeout?: number | undefined;
  readonly comment?: string | undefined;
}

export interface RecordText extends ContentText {
  readonly name: string;
  readonly type: ApiType;
}

export interface EditText {
  readonly create?: readonly RecordText[] | undefined;
  readonly update?:
    | readonly ({ readonly id: number } & { readonly [K in keyof RecordText]?: RecordText[K] | undefined })[]
    | undefined;
  readonly delete?: readonly number[] | undefined;
  readonly replace?:
    | readonly {
        readonly name: string;
        readonly type: ApiType;
        readonly ttl?: number | undefined;
        readonly records: readonly ContentText[];
      }[]
    | undefined;
}

export type ParsedEdit =
  | { readonly kind: 'edit'; readonly edit: Edit }
  | { readonly kind: 'problems'; readonly problems: readonly EditProblem[] };

/** Maximum number of reported problems: a batch may have ten thousand. */
const MAX_PROBLEMS = 20;

type Report = (field: string, message: string) => void;

export function parseEdit(text: EditText, apex: Name): ParsedEdit {
  const problems: EditProblem[] = [];
  const at =
    (list: EditList, index: number, path = ''): Report =>
    (field, message) => {
      if (problems.length >= MAX_PROBLEMS) return;
      problems.push({ list, index, field: `${path}${field}`, code: 'invalid', message });
    };

  const edit: Edit = {
    deletes: (text.delete ?? []).map((id) => ({ id })),
    replaces: (text.replace ?? []).map(({ name, type, ttl, records }, index) => ({
      name: nameOf(name, apex, at('replace', index)),
      type,
      ...(ttl !== undefined && { ttl }),
      records: records.map((record, i) =>
        contentOf(type, record, apex, at('replace', index, `records[${i}].`)),
      ),
    })),
    updates: (text.update ?? []).map(({ id, ...change }, index) => ({
      id,
      set: changeOf(change, apex, at('update', index)),
    })),
    creates: (text.create ?? []).map((record, index) => parseNewRecord(record, apex, at('create', index))),
  };
  return problems.length > 0 ? { kind: 'problems', problems } : { kind: 'edit', edit };
}

/** Reports errors in the text; the result is then not used. */
export function parseNewRecord(record: RecordText, apex: Name, report: Report): NewRecord {
  const name = nameOf(record.name, apex, report);
  return Object.assign({ name, type: record.type }, contentOf(record.type, record, apex, report));
}

function nameOf(text: string, apex: Name, report: Report): Name {
  const read = parseRecordName(text, apex);
  if (read.kind === 'name') return read.name;
  report('name', read.message);
  return apex;
}

function contentOf(type: ApiType, text: ContentText, apex: Name, report: Report): NewContent {
  const parsed = parseDestination(type, text.destination, text.mx_priority, apex);
  if (parsed.kind === 'problem') report(parsed.field, parsed.message);
  const rdata = parsed.kind === 'rdata' ? parsed.rdata : new Uint8Array(0);
  return Object.assign({ rdata }, ttlAndSettings(text));
}

function changeOf(
  text: Partial<{ [K in keyof RecordText]: RecordText[K] | undefined }>,
  apex: Name,
  report: Report,
): RecordChange {
  const { name, type, destination, mx_priority: mxPriority } = text;
  return {
    ...(name !== undefined && { name: nameOf(name, apex, report) }),
    ...(type !== undefined && { type }),
    ...(destination !== undefined && { destination }),
    ...(mxPriority !== undefined && { mxPriority }),
    ...ttlAndSettings(text),
  };
}

function ttlAndSettings(
  text: Partial<{ [K in keyof ContentText]: ContentText[K] | undefined }>,
): Partial<RecordSettings> & { ttl?: number } {
  // Assigns each field, because spreading is slow and imports are long.
  const { ttl, proxied, captcha, scheme, port, host_header, monitor, dest_country, timeout, comment } = text;
  const given: { -readonly [K in keyof RecordSettings]?: RecordSettings[K] } & { ttl?: number } = {};
  if (ttl !== undefined) given.ttl = ttl;
  if (proxied !== undefined) given.proxied = proxied;
  if (captcha !== undefined) given.captcha = captcha;
  if (scheme !== undefined) given.scheme = scheme;
  if (port !== undefined) given.port = port;
  if (host_header !== undefined) given.hostHeader = host_header === '' ? null : host_header;
  if (monitor !== undefined) given.monitor = monitor;
  if (dest_country !== undefined) given.destCountry = dest_country === '' ? null : dest_country;
  if (timeout !== undefined) given.timeout = timeout;
  if (comment !== undefined) given.comment = comment === '' ? null : comment;
  return given;
}
