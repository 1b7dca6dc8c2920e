// The domains above and below a name. The caller holds `lockNamesAround`.

import { sql } from 'kysely';

export function namesAbove(nameText: string): string[] {
  const labels = nameText.slice(0, -1).split('.');
  return labels.slice(1).map((_, i) => `${labels.slice(i + 1).join('.')}.`);
}

/** Selects names `d.name` below the given one; a dot within a label is escaped with a backslash. */
export function isBelow(nameText: string): ReturnType<typeof sql> {
  const end = `.${nameText}`;
  const start = [...end].reverse().join('');
  // names are ASCII: nothing that starts so is beyond it
  return sql`reverse(d.name) collate "C" > ${start} and reverse(d.name) collate "C" < ${`${start}\x7f`}
    and substr(d.name, length(d.name) - ${end.length}::integer, 1) <> '\\'`;
}
