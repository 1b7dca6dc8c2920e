// Unsaved input, per account. It survives a reload and the end of a session, but not a sign-out. Secrets are never drafts.
//
// All tabs of the browser share their drafts through its storage: input in one tab appears in the others, so that none
// overwrites another's.

import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { forget, keep, keepUntilReload, kept, keptKeys } from './storage.ts';

const PREFIX = 'draft:';
const OWNER = 'drafts-of';
/** Total size of all drafts in characters, below the limit of browsers per site. */
const MOST_CHARACTERS = 2_000_000;

export function useDraft<T>(key: string, byDefault: T): [T, (value: T) => void, () => void] {
  const [held, setHeld] = useState(() => ({ key, value: read(key) ?? byDefault }));
  const value = held.key === key ? held.value : ((read(key) as T | undefined) ?? byDefault);
  const nothing = useRef(byDefault);
  nothing.current = byDefault;
  const set = useCallback(
    (next: T) => {
      write(key, next);
      setHeld({ key, value: next });
    },
    [key],
  );
  const drop = useCallback(() => {
    forget(PREFIX + key);
    setHeld({ key, value: nothing.current });
  }, [key]);
  useEffect(() => {
    // Fired only for writes of other tabs (HTML, "The storage event"), without a key if everything was removed.
    const look = (event: StorageEvent) => {
      if (event.key === PREFIX + key || event.key === null)
        setHeld({ key, value: read<T>(key) ?? nothing.current });
    };
    addEventListener('storage', look);
    return () => removeEventListener('storage', look);
  }, [key]);
  return [value as T, set, drop];
}

export function dropDrafts(): void {
  for (const key of keptKeys()) if (key.startsWith(PREFIX)) forget(key);
}

/** Sets the signed-in account, and removes drafts of other accounts in this browser. */
export function ownDrafts(accountId: number): void {
  const owner = kept(OWNER);
  if (owner === String(accountId)) return;
  if (owner !== undefined) dropDrafts();
  keep(OWNER, String(accountId));
}

function read<T>(key: string): T | undefined {
  try {
    const text = kept(PREFIX + key);
    return text === undefined ? undefined : (JSON.parse(text) as T);
  } catch {
    return undefined;
  }
}

function write(key: string, value: unknown): void {
  const text = JSON.stringify(value);
  if (text.length <= MOST_CHARACTERS) keep(PREFIX + key, text);
  else keepUntilReload(PREFIX + key, text);
}
