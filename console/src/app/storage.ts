// What the browser keeps for this site. One that keeps nothing (storage that is blocked, or full) keeps it as long as the page is
// open: no call here fails.

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

/** What is too large for the browser's own store. */
export function keepUntilReload(key: string, text: string): void {
  forget(key); // what stood there before is not what is kept now
  untilReload.set(key, text);
}

export function forget(key: string): void {
  untilReload.delete(key);
  try {
    localStorage.removeItem(key);
  } catch {
    // nothing is kept there
  }
}

export function keptKeys(): string[] {
  try {
    return [...untilReload.keys(), ...Object.keys(localStorage)];
  } catch {
    return [...untilReload.keys()];
  }
}
