// Events of the running demo: checks are scheduled soon, so that users need not wait for hours, and two domains change once
// after they become active.

import { setTimeout as pause } from 'node:timers/promises';
import { parseName } from '../../dns/name.ts';
import { boundSignal } from '../../process/bound-signal.ts';
import { updateDomain } from '../../store/change/update-domain.ts';
import { hastenNames, hastenWaiting } from '../../store/checks/manual-check.ts';
import { findDomain } from '../../store/domains/load-domains.ts';
import { loadDemoState, saveDemoState } from '../../store/migrate/demo-state.ts';
import type { Database } from '../../store/postgres/database.ts';
import { LEAVING, MOVING } from './demo-domains.ts';
import { ELSEWHERE_NAMESERVERS } from './demo-net.ts';
import { BY } from './make-domains.ts';

const ROUND_MS = 2000;
/** Time from a change at the registrar to the check. */
const AFTER_CHANGE_SECONDS = 15;
/** Time between two checks of a domain that may change soon. */
const WAITING_SECONDS = 45;
const REQUEST_MS = 5000;

type Registered = Readonly<Record<string, { readonly changed_at: string | null }>>;

interface Play {
  readonly db: Database;
  /** URL of the registrar. */
  readonly url: string;
  readonly signal: AbortSignal;
  /** Called once per persistent problem. */
  readonly onTrouble: (error: Error) => void;
}

/** Resolves when `signal` aborts. */
export async function playDemo({ db, url, signal, onTrouble }: Play): Promise<void> {
  let seen: ReadonlyMap<string, string | null> | undefined;
  let isTold = false;
  while (!signal.aborted) {
    try {
      const names = await registered(url, signal);
      const changed = [...names].filter(([name, at]) => seen !== undefined && seen.get(name) !== at);
      if (changed.length > 0)
        await hastenNames(
          db,
          changed.map(([name]) => `${name}.`),
          AFTER_CHANGE_SECONDS,
        );
      seen = names;
      await hastenWaiting(db, WAITING_SECONDS);
      await playScenes(db, url, signal);
      isTold = false;
    } catch (error) {
      if (!isTold && !signal.aborted) onTrouble(error as Error);
      isTold = true;
    }
    await pause(ROUND_MS, undefined, { signal }).catch(() => {});
  }
}

/** Returns when each name was last changed. */
async function registered(url: string, signal: AbortSignal): Promise<ReadonlyMap<string, string | null>> {
  const response = await fetch(`${url}/names`, { signal: boundSignal(signal, REQUEST_MS) });
  if (!response.ok) throw new Error(`the registrar responded with ${response.status}`);
  const names = (await response.json()) as Registered;
  return new Map(Object.entries(names).map(([name, { changed_at: at }]) => [name, at]));
}

async function playScenes(db: Database, url: string, signal: AbortSignal): Promise<void> {
  const { done } = await loadDemoState(db);
  for (const name of [LEAVING, MOVING]) {
    const scene = `${name} goes`;
    if (done.includes(scene)) continue;
    const domain = await findDomain(db, parseName(`${name}.`));
    if (domain?.status !== 'active') continue;
    if (name === LEAVING)
      await updateDomain(db, { ...BY, domainId: domain.id, set: { dnsMode: 'external' } });
    else await delegate(url, name, ELSEWHERE_NAMESERVERS, signal);
    const state = await loadDemoState(db);
    await saveDemoState(db, { done: [...state.done, scene] });
  }
}

async function delegate(
  url: string,
  name: string,
  nameservers: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const response = await fetch(`${url}/names/${name}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ nameservers }),
    signal: boundSignal(signal, REQUEST_MS),
  });
  if (!response.ok) throw new Error(`the registrar responded with ${response.status}`);
}
