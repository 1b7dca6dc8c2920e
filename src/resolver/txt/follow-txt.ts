// Follows the random siblings of a challenge's name to their TXT records. One server's answer is sufficient, and whatever a
// few queries do not show remains undecided.

import { type Name, ROOT } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import type { ResolverState } from '../state/resolver-state.ts';
import { runWork } from '../state/run-work.ts';
import { Stopped, type Work } from '../state/work.ts';
import { askAuthority } from '../walk/ask-authority.ts';
import { joinStrings, type TxtResult } from '../walk/ask-every-server.ts';
import { Journey } from '../walk/walk.ts';

export interface SiblingResult {
  readonly name: Name;
  readonly result: TxtResult;
}

export interface FollowedTxt {
  readonly targets: readonly Name[];
  readonly values: readonly Uint8Array[];
}

/** Maximum number of followed names, and the limits of each. */
const MAX_NAMES = 4;
const MAX_PACKETS = 12;
const MILLISECONDS = 5000;

/** Finds the records at the alias targets of siblings, and of siblings in separate zones. */
export async function followTxt(
  state: ResolverState,
  siblings: readonly SiblingResult[],
  { isAlias, work }: { readonly isAlias: boolean; readonly work: Work },
): Promise<ReadonlyMap<Name, FollowedTxt>> {
  const names = new Set<Name>();
  const referred: Name[] = [];
  for (const { name, result } of siblings) {
    const { kind } = result.reply;
    if (kind === 'alias' && result.evidence.target !== undefined) names.add(result.evidence.target);
    else if (kind === 'referral') referred.push(name);
  }
  names.delete(ROOT);
  // Different aliases are already decisive if the challenge's name is an alias.
  if (isAlias && names.size > 1) return new Map();
  const wanted = [...names, ...referred].slice(0, MAX_NAMES);
  // Leaves a share for the queries that run concurrently.
  const share = Math.floor(Math.max(0, work.limits.packets - work.packets) / (wanted.length + 1));
  const packets = Math.min(MAX_PACKETS, share);
  const followed = await Promise.all(wanted.map((name) => followWithin(state, name, packets, work)));
  return new Map(wanted.map((name, i) => [name, followed[i] as FollowedTxt]));
}

async function followWithin(
  state: ResolverState,
  name: Name,
  packets: number,
  outer: Work,
): Promise<FollowedTxt> {
  const followed: { targets: Name[]; values: Uint8Array[] } = { targets: [], values: [] };
  const limits = { ...state.around.limits, packets, milliseconds: MILLISECONDS };
  try {
    outer.check();
    outer.countPackets(packets); // reserve
    await runWork(state, { limits, signal: outer.signal }, async (work) => {
      try {
        await follow(state, name, followed, work);
      } finally {
        outer.countPackets(work.packets - packets);
      }
    });
  } catch (error) {
    outer.check();
    if (!(error instanceof Stopped)) throw error;
  }
  return followed;
}

async function follow(
  state: ResolverState,
  from: Name,
  followed: { readonly targets: Name[]; readonly values: Uint8Array[] },
  work: Work,
): Promise<void> {
  let name = from;
  while (name !== ROOT && followed.targets.length < work.limits.cnames) {
    const journey = new Journey(state, state.root, work);
    const result = await askAuthority(state, journey, { name, type: TYPE.TXT }, { work, within: undefined });
    if (result.kind === 'failed') return;
    const { reply } = result;
    if (reply.kind === 'answer') followed.values.push(...reply.rdata.map(joinStrings));
    if (reply.kind !== 'alias' || reply.target === undefined || followed.targets.includes(reply.target))
      return;
    name = reply.target;
    followed.targets.push(name);
  }
}
