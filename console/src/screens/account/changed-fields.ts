// Lists the changes of an audit log entry, one line per field: `role: viewer → editor`.

type Fields = Readonly<Record<string, unknown>> | undefined;

const MOST = 8;
const LONGEST = 120;

export function changedFields(before: Fields, after: Fields): string[] {
  const fields = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  return fields
    .filter((field) => before?.[field] !== undefined || after?.[field] !== false) // a field that stays off is not shown
    .slice(0, MOST)
    .map((field) => {
      const [was, is] = [before?.[field], after?.[field]].map(say);
      if (was === undefined) return `${field}: ${is ?? ''}`;
      return `${field}: ${was} → ${is ?? '—'}`;
    });
}

function say(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
