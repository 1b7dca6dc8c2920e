// Customer records and edits as lines of text: `7: www 300 A 192.0.2.1 ; proxied` is record 7, and `www A 192.0.2.1` a new
// one with the default TTL. Names and destinations are written as in the API (MX with its priority in front).

import { type Name, parseName } from '../../../src/dns/name.ts';
import type { EditProblem } from '../../../src/zone/edit/edit.ts';
import {
  type ContentText,
  type EditText,
  type ParsedEdit,
  parseEdit,
  type RecordText,
} from '../../../src/zone/edit/parse-edit.ts';
import type { EditState, Planned, RecordOperation } from '../../../src/zone/edit/plan-edit.ts';
import {
  type CustomerRecord,
  DEFAULT_SETTINGS,
  type RecordValue,
} from '../../../src/zone/records/customer-record.ts';
import { type ApiType, isApiType } from '../../../src/zone/records/customer-types.ts';
import { printDestination } from '../../../src/zone/records/destination.ts';
import { printRecordName } from '../../../src/zone/records/record-name.ts';

export const APEX = parseName('example.com.');
export const EDGES = { v4: ['203.0.113.1', '203.0.113.2'], v6: ['2001:db8::1'] };
export const NO_EDGES = { v4: [], v6: [] };

const LINE = /^(?:(\d+): )?(\S+) (?:(\d+) )?([A-Z][A-Z0-9]*) (.*?)(?: ; (.*))?$/;

/** Parses `proxied`, `captcha`, `monitor`, and `comment=x`. */
function settingsOf(words: string | undefined): Partial<ContentText> {
  const settings: Record<string, unknown> = {};
  for (const word of words?.split(' ') ?? []) {
    const [key, value] = word.split('=') as [string, string | undefined];
    settings[key] = value ?? true;
  }
  return settings as Partial<ContentText>;
}

function contentText(type: ApiType, text: string): { destination: string; mx_priority?: number } {
  if (type !== 'MX') return { destination: text };
  const [priority, host] = text.split(' ') as [string, string];
  return { destination: host, mx_priority: Number(priority) };
}

export function recordText(line: string): RecordText & { id: number | undefined } {
  const match = LINE.exec(line);
  if (match === null) throw new Error(`not a record: ${line}`);
  const [, id, name, ttl, type, destination, settings] = match as unknown as string[];
  if (!isApiType(type as string)) throw new Error(`not a type: ${line}`);
  return {
    id: id === undefined ? undefined : Number(id),
    name: name as string,
    type: type as ApiType,
    ...(ttl !== undefined && { ttl: Number(ttl) }),
    ...contentText(type as ApiType, destination as string),
    ...settingsOf(settings),
  };
}

export function newRecord(line: string, apex: Name = APEX): RecordValue {
  const { id: _, ...text } = recordText(line);
  const parsed = parseEdit({ create: [text] }, apex);
  if (parsed.kind === 'problems') throw new Error(`${line}: ${parsed.problems[0]?.message}`);
  return { ...DEFAULT_SETTINGS, ttl: 300, ...parsed.edit.creates[0] } as RecordValue;
}

export function records(lines: readonly string[], apex: Name = APEX): CustomerRecord[] {
  return lines.map((line, i) => stored(newRecord(line, apex), recordText(line).id ?? i + 1));
}

export function stored(value: RecordValue, id: number, createdAt = '2026-01-01T00:00:00Z'): CustomerRecord {
  return { ...value, id, createdAt, updatedAt: createdAt };
}

export type StateOptions = Partial<EditState> & {
  readonly maxRecords?: number | null;
  readonly withHostHeader?: boolean;
};

export function editState(
  lines: readonly string[],
  { maxRecords = null, withHostHeader = true, ...rest }: StateOptions = {},
): EditState {
  const isAllowed = (count: number) => maxRecords === null || count <= maxRecords;
  const all = records(lines);
  return {
    apex: APEX,
    records: all,
    recordCount: all.length,
    plan: {
      records: (count) =>
        isAllowed(count) ? undefined : { code: 'plan_limit', message: `${count}`, limit: maxRecords ?? 0 },
      hostHeader: () =>
        withHostHeader ? undefined : { code: 'plan_feature', message: 'none', feature: 'x' },
    },
    edges: EDGES,
    ...rest,
  };
}

/** An edit whose lists are lines. A replacement is `[name, type, ...records]`, and an update `[id, fields]`. */
export interface EditLines {
  delete?: number[];
  replace?: [name: string, type: ApiType, ...lines: string[]][];
  update?: [id: number, fields: Partial<RecordText>][];
  create?: string[];
}

/** Reads `delete 1 2`, `replace www A: A 192.0.2.1, A 192.0.2.2`, `update 1 ttl=60 name=b` and `create www A 192.0.2.1`. */
export function editLines(texts: readonly string[]): EditLines {
  const lines = { delete: [], replace: [], update: [], create: [] } as Required<EditLines>;
  for (const text of texts) {
    const [verb, ...words] = text.split(' ') as [string, ...string[]];
    const [head = '', contents = ''] = words.join(' ').split(/: ?(.*)/);
    if (verb === 'delete') lines.delete.push(...words.map(Number));
    else if (verb === 'create') lines.create.push(words.join(' '));
    else if (verb === 'replace') {
      const [name = '', type = ''] = head.split(' ');
      lines.replace.push([name, type as ApiType, ...contents.split(', ').filter(Boolean)]);
    } else {
      const fields = words.slice(1).map((word) => word.split('=') as [string, string]);
      lines.update.push([
        Number(words[0]),
        Object.fromEntries(fields.map(([key, value]) => [key, field(value)])),
      ]);
    }
  }
  return lines;
}

const field = (value: string) => (/^(\d+|true|false)$/.test(value) ? JSON.parse(value) : value);

function editText(lines: EditLines): EditText {
  return {
    delete: lines.delete,
    replace: lines.replace?.map(([name, type, ...contents]) => {
      const texts = contents.map((content) => recordText(`${name} ${content}`));
      const ttl = texts.find((text) => text.ttl !== undefined)?.ttl;
      return {
        name,
        type,
        ttl,
        records: texts.map(({ id: _, name: __, type: ___, ttl: ____, ...content }) => content),
      };
    }),
    update: lines.update?.map(([id, fields]) => ({ id, ...fields })),
    create: lines.create?.map((line) => {
      const { id: _, ...text } = recordText(line);
      return text;
    }),
  };
}

export function edit(lines: EditLines, apex: Name = APEX): Extract<ParsedEdit, { kind: 'edit' }>['edit'] {
  const parsed = parseEdit(editText(lines), apex);
  if (parsed.kind === 'problems') throw new Error(JSON.stringify(parsed.problems));
  return parsed.edit;
}

export function showRecord(value: RecordValue, apex: Name = APEX): string {
  const { destination, mxPriority } = printDestination(value.type, value.rdata);
  const words = [
    printRecordName(value.name, apex),
    value.ttl,
    value.type,
    ...(mxPriority === undefined ? [] : [mxPriority]),
    destination,
  ];
  const settings = [
    ...(value.proxied ? ['proxied'] : []),
    ...(value.captcha ? ['captcha'] : []),
    ...(value.comment === null ? [] : [`comment=${value.comment}`]),
  ];
  return words.join(' ') + (settings.length > 0 ? ` ; ${settings.join(' ')}` : '');
}

/** Prints `- 7: …`, `~ 7: …` or `+ …`. */
export function showOperation(op: RecordOperation): string {
  switch (op.op) {
    case 'delete':
      return `- ${op.before.id}: ${showRecord(op.before)}`;
    case 'update':
      return `~ ${op.before.id}: ${showRecord(op.after)}`;
    case 'create':
      return `+ ${op.restores === undefined ? '' : `${op.restores.id}: `}${showRecord(op.after)}`;
    default:
      return op satisfies never;
  }
}

/** Prints for example `conflict create[0]` or `invalid update[3] destination`. */
export function showProblem({ list, index, field, code }: EditProblem): string {
  return `${code} ${list}[${index}]${field === undefined ? '' : ` ${field}`}`;
}

export function showPlan(planned: Planned): string[] {
  return planned.kind === 'change' ? planned.ops.map(showOperation) : planned.problems.map(showProblem);
}

/** Returns the records after a change, as a database would store them. */
export function applied(
  before: readonly CustomerRecord[],
  ops: readonly RecordOperation[],
  firstId = 1_000_000,
): CustomerRecord[] {
  const byId = new Map(before.map((record) => [record.id, record]));
  let id = firstId;
  for (const op of ops) {
    if (op.op === 'delete') byId.delete(op.before.id);
    else if (op.op === 'update') byId.set(op.before.id, op.after);
    else if (op.restores !== undefined) {
      byId.set(op.restores.id, stored(op.after, op.restores.id, op.restores.createdAt));
    } else {
      byId.set(id, stored(op.after, id));
      id++;
    }
  }
  return [...byId.values()].sort((a, b) => a.id - b.id);
}
