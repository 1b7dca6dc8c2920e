// Converts the form of a new API key to the request.

export const KEY_DAYS = [7, 30, 90, 365] as const;
const DAY_MS = 24 * 60 * 60 * 1000;

/** Splits `a.example, b.example` at commas and spaces. */
export function listed(text: string): string[] {
  return text.split(/[\s,;]+/).filter((item) => item !== '');
}

/** Undefined if the key does not expire. */
export function endOfKey(days: string, nowMs: number): string | undefined {
  const known = KEY_DAYS.find((each) => String(each) === days);
  return known === undefined ? undefined : new Date(nowMs + known * DAY_MS).toISOString();
}

/** Replaces `names[1]` in the API's error by the item. */
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
