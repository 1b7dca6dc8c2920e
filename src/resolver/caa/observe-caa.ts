// Looks up the CAA records that apply to a name: its own, or those of the closest ancestor that has any (RFC 8659 §3).
// Queries the servers of their zones and follows aliases at each name.

import type { CaaEvidence, CaaRecord } from '../../checks/caa/judge-caa.ts';
import { foldCase, type Name, parentOf, printName, ROOT } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import type { ResolverState } from '../state/resolver-state.ts';
import { runWork } from '../state/run-work.ts';
import { Stopped, type Work } from '../state/work.ts';
import { askAuthority } from '../walk/ask-authority.ts';
import { Journey } from '../walk/walk.ts';

/** Rejects with the signal's reason when that aborts. */
export async function observeCaa(
  state: ResolverState,
  name: Name,
  { signal }: { readonly signal?: AbortSignal | undefined },
): Promise<CaaEvidence> {
  return await runWork(state, { limits: state.around.limits, signal }, async (work) => {
    try {
      for (let at = foldCase(name); at !== ROOT; at = parentOf(at)) {
        const found = await askAt(state, work, at);
        if (found === undefined) continue;
        return found;
      }
      return { kind: 'none' };
    } catch (error) {
      if (!(error instanceof Stopped) || error.by === 'aborted') throw error;
      return { kind: 'failed', message: error.message };
    }
  });
}

/** Returns undefined if the name has none. */
async function askAt(state: ResolverState, work: Work, at: Name): Promise<CaaEvidence | undefined> {
  for (let name: Name = at; ; ) {
    const journey = new Journey(state, state.root, work);
    const result = await askAuthority(state, journey, { name, type: TYPE.CAA }, { work, within: undefined });
    if (result.kind === 'failed') return { kind: 'failed', message: result.failure.message };
    const { reply } = result;
    if (reply.kind === 'answer')
      return {
        kind: 'found',
        at: printName(at).replace(/\.$/, ''),
        records: reply.rdata.map(readCaa),
      };
    if (reply.kind !== 'alias') return undefined;
    if (reply.target === undefined || reply.target === ROOT || !work.countCname())
      return { kind: 'failed', message: `${printName(at)} is an alias whose target is missing` };
    name = reply.target;
  }
}

/** Flags, tag length, tag, value (RFC 8659 §4.1). */
function readCaa(rdata: Uint8Array): CaaRecord {
  const end = 2 + (rdata[1] ?? 0);
  const text = (from: number, to?: number) => Buffer.from(rdata.subarray(from, to)).toString('latin1');
  return { flags: rdata[0] ?? 0, tag: text(2, end), value: text(end) };
}
