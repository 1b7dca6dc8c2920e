// What a person writes into the form of a new key, as the API takes it.

export const KEY_DAYS = [7, 30, 90, 365] as const;
const DAY_MS = 24 * 60 * 60 * 1000;

/** `a.example, b.example` with commas or spaces between. */
export function listed(text: string): string[] {
  return text.split(/[\s,;]+/).filter((item) => item !== '');
}

/** Undefined: it has no end. */
export function endOfKey(days: string, nowMs: number): string | undefined {
  const known = KEY_DAYS.find((each) => String(each) === days);
  return known === undefined ? undefined : new Date(nowMs + known * DAY_MS).toISOString();
}

/** The API says `names[1]`; people see the item. */
export function problemOfList(
  fields: readonly { readonly field: string; readonly error: string }[] | undefined,
  list: string,
  items: readonly string[],
): string | undefined {
  for (const { field, error } of fields ?? []) {
    const [, name, index] = /^(\w+)(?:\[(\d+)\])?$/.exec(field) ?? [];
    if (name !== list) continue;
    const item = index === undefined ? undefined : items[Number(index)];
    return item === undefined ? error : `${item}: ${error}`;
  }
  return undefined;
}
