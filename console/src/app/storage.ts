// Storage of the browser for this site. If it is blocked or full, values are kept in memory while the page is open, so no call
// fails.

const untilReload = new Map<string, string>();

export function kept(key: string): string | undefined {
  const text = untilReload.get(key);
  if (text !== undefined) return text;
  try {
    return localStorage.getItem(key) ?? undefined;
  } catch {
    return undefined;
  }
}

export function keep(key: string, text: string): void {
  try {
    localStorage.setItem(key, text);
    untilReload.delete(key);
  } catch {
    keepUntilReload(key, text);
  }
}

/** Values that are too large for the browser's storage. */
export function keepUntilReload(key: string, text: string): void {
  forget(key); // removes the previous value, which is outdated
  untilReload.set(key, text);
}

export function forget(key: string): void {
  untilReload.delete(key);
  try {
    localStorage.removeItem(key);
  } catch {
    // the storage is blocked
  }
}

export function keptKeys(): string[] {
  try {
    return [...untilReload.keys(), ...Object.keys(localStorage)];
  } catch {
    return [...untilReload.keys()];
  }
}
