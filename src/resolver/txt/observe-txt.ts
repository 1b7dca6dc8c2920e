// Observes a challenge's TXT record: from link to link of its aliases to the servers that should have it, all of which are
// asked; then names beside it, to tell it from a wildcard's; and resolvers of others, which show what people see.
//
//   host ─ every address ─▶ alias ─▶ target ─ every address ─▶ … ─▶ values ─▶ siblings of host, and host again

import type { WalkFailure } from '../../checks/delegation/evidence.ts';
import type { TxtEvidence, TxtLink, TxtResolverEvidence, TxtSibling } from '../../checks/txt/txt-evidence.ts';
import { foldCase, type Name, printName, ROOT } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import type { Limits } from '../state/limits.ts';
import type { ResolverState } from '../state/resolver-state.ts';
import { runWork } from '../state/run-work.ts';
import { Stopped, type Work } from '../state/work.ts';
import { askForTxt, joinStrings } from '../walk/ask-every-server.ts';
import { askRecursive } from '../walk/ask-recursive.ts';
import { isSilence, silenceOf } from '../walk/walk.ts';
import { askPrimaries } from './ask-primaries.ts';
import { type FoundLink, observeTxtLink, type Way } from './observe-txt-link.ts';
import { probeSiblings } from './probe-siblings.ts';

/**
 * More packets and time than a check of a delegation has, since every server is asked several times: a name on 26
 * addresses takes four questions at each, its alias's target 26 more, and the ways there some thirty. Silent servers
 * take 6 s at each link, and there are seldom more than two links with servers of their own.
 */
const TXT_LIMITS: Partial<Limits> = { packets: 180, milliseconds: 20_000 };

/** Rejects with the signal's reason when that aborts. */
export async function observeTxt(
  state: ResolverState,
  name: Name,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<TxtEvidence> {
  const host = foldCase(name);
  if (host === ROOT) throw new RangeError('the root has no challenge');
  signal?.throwIfAborted();
  const startedAt = state.around.now();
  const limits = { ...state.around.limits, ...TXT_LIMITS };
  return runWork(state, { limits, signal }, async (work) => {
    const [seen, resolvers] = await Promise.all([
      observe(state, host, work),
      askResolvers(state, host, work),
    ]);
    return { host, ...seen, resolvers, queries: work.packets, startedAt, finishedAt: state.around.now() };
  });
}

/** What was observed so far. */
interface Seen {
  links: TxtLink[];
  siblings: readonly TxtSibling[];
  failure: WalkFailure | undefined;
}

async function observe(state: ResolverState, host: Name, work: Work): Promise<Seen> {
  const seen: Seen = { links: [], siblings: [], failure: undefined };
  try {
    await observeLinks(state, host, seen, work);
    work.check(); // what was not answered because time was over proves nothing
  } catch (error) {
    if (!(error instanceof Stopped) || error.by === 'aborted') throw error;
    const zone = work.reached;
    seen.failure = isSilence(error, work)
      ? silenceOf(zone, error)
      : { zone, reason: 'limit', message: error.message };
  }
  return seen;
}

async function observeLinks(state: ResolverState, host: Name, seen: Seen, work: Work): Promise<void> {
  const way: Way = { silent: new Set(), confirmed: new Set() };
  const found: FoundLink[] = [];
  let name: Name | undefined = host;
  while (name !== undefined) {
    const next = await observeTxtLink(state, name, way, work);
    if (next.kind === 'failed') {
      seen.failure = next.failure;
      return;
    }
    found.push(next);
    seen.links.push(next.link);
    work.check();
    if (next.most?.kind !== 'alias') break;
    const { target } = next.most;
    seen.failure = whyNotFollowed(seen.links, target, work);
    name = seen.failure === undefined ? target : undefined;
  }
  const hasValues = seen.links.at(-1)?.servers.some(({ values }) => values.length > 0);
  if (seen.failure === undefined && hasValues) await probe(state, found, seen, way, work);
}

function whyNotFollowed(
  links: readonly TxtLink[],
  target: Name | undefined,
  work: Work,
): WalkFailure | undefined {
  const { host, zone } = links.at(-1) as TxtLink;
  const text = printName(host);
  if (target === undefined || target === ROOT)
    return { zone, reason: 'lame', message: `${text} is an alias that leads nowhere` };
  if (links.some((link) => link.host === target))
    return { zone, reason: 'loop', message: `${text} is an alias that leads back to ${printName(target)}` };
  if (links.length <= work.limits.cnames) return undefined;
  return { zone, reason: 'limit', message: `there are more than ${work.limits.cnames} aliases` };
}

/** Probes for a wildcard: a value may come and go at the end of the aliases too. */
async function probe(
  state: ResolverState,
  found: readonly FoundLink[],
  seen: Seen,
  { silent }: Way,
  work: Work,
): Promise<void> {
  const first = found[0] as FoundLink;
  const last = found.at(-1) as FoundLink;
  const isAlias = found.length > 1;
  const [probed, primaries, words] = await Promise.all([
    probeSiblings(state, first, isAlias, work),
    Promise.all(found.map(({ path }) => askPrimaries(state, path, silent, work))),
    Promise.all(
      (isAlias || first.link.host === first.zone.zone ? last.told : []).map((to) =>
        askForTxt(state, work, last.zone, to, last.link.host),
      ),
    ),
  ]);
  seen.siblings = probed.siblings;
  const again = words.map(({ evidence }) => evidence);
  seen.links = seen.links.map((link, i) => ({
    ...link,
    primaries: primaries[i] ?? [],
    again: [...(link === first.link ? probed.again : []), ...(link === last.link ? again : [])],
  }));
}

async function askResolvers(state: ResolverState, host: Name, work: Work): Promise<TxtResolverEvidence[]> {
  const { addresses = [] } = state.around.publicResolvers ?? {};
  return Promise.all(addresses.map((address) => askResolver(state, address, host, work)));
}

async function askResolver(
  state: ResolverState,
  address: string,
  host: Name,
  work: Work,
): Promise<TxtResolverEvidence> {
  try {
    const said = await askRecursive(state, work, address, { name: host, type: TYPE.TXT });
    if (said.kind === 'failed') return { address, values: undefined, error: said.error };
    return { address, values: said.kind === 'answer' ? said.rdata.map(joinStrings) : [], error: undefined };
  } catch (error) {
    if (!(error instanceof Stopped) || error.by === 'aborted') throw error;
    return { address, values: undefined, error: error.message };
  }
}
