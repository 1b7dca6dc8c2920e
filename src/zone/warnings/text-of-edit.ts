// Finds octal escapes in the names and hosts of an API edit. Its records do not show them, so the text is inspected.

import { hostWordOf } from '../../dns/zone-file/host-word.ts';
import type { EditItem } from '../edit/draft.ts';
import type { EditText, RecordText } from '../edit/parse-edit.ts';
import type { RecordValue } from '../records/customer-record.ts';
import { type ApiType, wireTypeCode } from '../records/customer-types.ts';
import { explainOctal } from './inspect-text.ts';
import type { ZoneWarning } from './zone-warning.ts';

interface Operation {
  readonly after?: Pick<RecordValue, 'name' | 'type'>;
  readonly item?: EditItem;
}

/** Inspects the text of each record that the operations write. */
export function* warnOfEditText(text: EditText, ops: readonly Operation[]): Generator<ZoneWarning> {
  for (const { after, item } of ops) {
    if (after === undefined || item === undefined) continue;
    const { name: owner, type } = after;
    const { name, destination } = textOf(text, item);
    for (const word of [name, hostIn(type, destination)]) {
      const message = word === undefined ? undefined : explainOctal(word);
      if (message !== undefined) yield { code: 'OCTAL_ESCAPE', owner, type, message };
    }
  }
}

function hostIn(type: ApiType, destination: string | undefined): string | undefined {
  const at = type === 'ANAME' || type === 'MX' ? 0 : hostWordOf(wireTypeCode(type)); // the priority of an MX is a separate field
  return at === undefined ? undefined : destination?.split(/\s+/)[at];
}

function textOf(text: EditText, { list, index, path }: EditItem): Partial<RecordText> {
  if (list === 'create') return text.create?.[index] ?? {};
  if (list === 'update') return (text.update?.[index] ?? {}) as Partial<RecordText>;
  const { name, records } = text.replace?.[index] ?? { records: [] };
  const [record] = /\d+/.exec(path) ?? []; // `records[2].`
  return { ...records[Number(record)], ...(name !== undefined && { name }) };
}
