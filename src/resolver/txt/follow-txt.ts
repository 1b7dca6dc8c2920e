// Finds where random names beside a challenge's name lead, and which TXT records are there. One server's word is
// enough, and what a few questions do not show stays open.

import { type Name, ROOT } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import type { ResolverState } from '../state/resolver-state.ts';
import { runWork } from '../state/run-work.ts';
import { Stopped, type Work } from '../state/work.ts';
import { askAuthority } from '../walk/ask-authority.ts';
import { joinStrings, type Word } from '../walk/ask-every-server.ts';
import { Journey } from '../walk/walk.ts';

export interface AskedSibling {
  readonly name: Name;
  readonly word: Word;
}

export interface Followed {
  readonly targets: readonly Name[];
  readonly values: readonly Uint8Array[];
}

/** How many names are followed, and the limits for each of them. */
const MAX_NAMES = 4;
const MAX_PACKETS = 12;
const MILLISECONDS = 5000;

/** Finds the records by the names that siblings are aliases of, and by siblings in zones of their own. */
export async function followTxt(
  state: ResolverState,
  siblings: readonly AskedSibling[],
  { isAlias, work }: { readonly isAlias: boolean; readonly work: Work },
): Promise<ReadonlyMap<Name, Followed>> {
  const names = new Set<Name>();
  const referred: Name[] = [];
  for (const { name, word } of siblings) {
    const { kind } = word.reading;
    if (kind === 'alias' && word.evidence.target !== undefined) names.add(word.evidence.target);
    else if (kind === 'referral') referred.push(name);
  }
  names.delete(ROOT);
  // Aliases that differ decide already, where the challenge's name is one.
  if (isAlias && names.size > 1) return new Map();
  const wanted = [...names, ...referred].slice(0, MAX_NAMES);
  // The questions that go on beside have their share too.
  const share = Math.floor(Math.max(0, work.limits.packets - work.packets) / (wanted.length + 1));
  const packets = Math.min(MAX_PACKETS, share);
  const followed = await Promise.all(wanted.map((name) => followWithin(state, name, packets, work)));
  return new Map(wanted.map((name, i) => [name, followed[i] as Followed]));
}

async function followWithin(
  state: ResolverState,
  name: Name,
  packets: number,
  outer: Work,
): Promise<Followed> {
  const found: { targets: Name[]; values: Uint8Array[] } = { targets: [], values: [] };
  const limits = { ...state.around.limits, packets, milliseconds: MILLISECONDS };
  try {
    outer.check();
    outer.countPackets(packets); // set aside
    await runWork(state, { limits, signal: outer.signal }, async (work) => {
      try {
        await follow(state, name, found, work);
      } finally {
        outer.countPackets(work.packets - packets);
      }
    });
  } catch (error) {
    outer.check();
    if (!(error instanceof Stopped)) throw error;
  }
  return found;
}

async function follow(
  state: ResolverState,
  from: Name,
  found: { readonly targets: Name[]; readonly values: Uint8Array[] },
  work: Work,
): Promise<void> {
  let name = from;
  while (name !== ROOT && found.targets.length < work.limits.cnames) {
    const journey = new Journey(state, state.root);
    const asked = await askAuthority(state, journey, { name, type: TYPE.TXT }, { work, within: undefined });
    if (asked.kind === 'failed') return;
    const { told } = asked;
    if (told.kind === 'answer') found.values.push(...told.rdata.map(joinStrings));
    if (told.kind !== 'alias' || told.target === undefined || found.targets.includes(told.target)) return;
    name = told.target;
    found.targets.push(name);
  }
}
