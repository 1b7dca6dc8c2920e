// What has been typed and not saved survives a reload, not a sign-out. Secrets are never drafts.

import { useCallback, useState } from 'preact/hooks';

const PREFIX = 'draft:';
/** Of all drafts in characters, below what browsers keep for a site. */
const MOST_CHARACTERS = 2_000_000;

export function useDraft<T>(key: string, byDefault: T): [T, (value: T) => void, () => void] {
  const [kept, setKept] = useState(() => ({ key, value: read(key) ?? byDefault }));
  const value = kept.key === key ? kept.value : ((read(key) as T | undefined) ?? byDefault);
  const set = useCallback(
    (next: T) => {
      write(key, next);
      setKept({ key, value: next });
    },
    [key],
  );
  const drop = useCallback(() => {
    localStorage.removeItem(PREFIX + key);
    setKept({ key, value: byDefault });
  }, [key, byDefault]);
  return [value as T, set, drop];
}

export function dropDrafts(): void {
  for (const key of Object.keys(localStorage)) {
    if (key.startsWith(PREFIX)) localStorage.removeItem(key);
  }
}

function read<T>(key: string): T | undefined {
  try {
    const text = localStorage.getItem(PREFIX + key);
    return text === null ? undefined : (JSON.parse(text) as T);
  } catch {
    return undefined;
  }
}

/** A browser that keeps nothing, or has no room, loses the draft at the next reload only. */
function write(key: string, value: unknown): void {
  try {
    const text = JSON.stringify(value);
    if (text.length <= MOST_CHARACTERS) localStorage.setItem(PREFIX + key, text);
  } catch {
    // said above
  }
}
