// Queries the root's servers for the root's keys, for trust anchor rollovers (RFC 5011).

import { ValidationBudget } from '../../checks/validation/budget.ts';
import { type RootKeys, readRootKeys } from '../../checks/validation/root-keys.ts';
import { setAt } from '../../checks/validation/signed-sets.ts';
import { ROOT } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import type { ResolverState } from '../state/resolver-state.ts';
import { runWork } from '../state/run-work.ts';
import { Stopped } from '../state/work.ts';
import { askZone } from '../walk/ask-zone.ts';

/** Returns undefined if no server returned keys. Rejects with the signal's reason when that aborts. */
export async function observeRootKeys(
  state: ResolverState,
  signal: AbortSignal | undefined,
): Promise<RootKeys | undefined> {
  const { around, root } = state;
  const anchors = around.trustAnchors?.() ?? [];
  let seen: RootKeys | undefined;
  try {
    await runWork(state, { limits: around.limits, signal }, (work) =>
      askZone(
        state,
        root,
        { name: ROOT, type: TYPE.DNSKEY },
        { work, within: undefined },
        (_, { answers }) => {
          const set = setAt(answers, ROOT, TYPE.DNSKEY);
          if (set === undefined) return false;
          const at = Math.floor(around.now() / 1000);
          const keys = readRootKeys(set, anchors, { at, budget: new ValidationBudget() });
          // A key that one server shows as revoked stays revoked, even if another server has the set that counts.
          seen = { present: keys.present, revoked: [...(seen?.revoked ?? []), ...keys.revoked] };
          return keys.present !== undefined;
        },
      ),
    );
  } catch (error) {
    if (!(error instanceof Stopped) || error.by === 'aborted') throw error;
  }
  return seen;
}
