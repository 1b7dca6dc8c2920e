// Observes a challenge's TXT record: follows its aliases to the servers that should have it and queries all of them; then
// queries sibling names, to detect a wildcard, and public resolvers, which show what users see.
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
import { askResolver } from '../walk/ask-resolver.ts';
import { isSilence, silenceOf } from '../walk/walk.ts';
import { askPrimaries } from './ask-primaries.ts';
import { type LinkContext, type ObservedLink, observeTxtLink } from './observe-txt-link.ts';
import { probeSiblings } from './probe-siblings.ts';

/**
 * More packets and time than a delegation check has, since every server is queried several times: a name on 26 addresses
 * takes four queries at each, its alias's target 26 more, and the walks about thirty. Silent servers take 6 s per link, and
 * there are rarely more than two links with separate servers.
 */
const TXT_LIMITS: Partial<Limits> = { packets: 180, milliseconds: 20_000 };

/** Rejects with the signal's reason when that aborts. */
export async function observeTxt(
  state: ResolverState,
  name: Name,
  { signal, fresh }: { readonly signal?: AbortSignal | undefined; readonly fresh?: boolean | undefined } = {},
): Promise<TxtEvidence> {
  const host = foldCase(name);
  if (host === ROOT) throw new RangeError('the root has no challenge');
  signal?.throwIfAborted();
  const startedAt = state.around.now();
  const limits = { ...state.around.limits, ...TXT_LIMITS };
  return runWork(state, { limits, signal, fresh }, async (work) => {
    const [observed, resolvers] = await Promise.all([
      observe(state, host, work),
      askEveryResolver(state, host, work),
    ]);
    return { host, ...observed, resolvers, queries: work.packets, startedAt, finishedAt: state.around.now() };
  });
}

/** Results so far. */
interface TxtObservation {
  links: TxtLink[];
  siblings: readonly TxtSibling[];
  failure: WalkFailure | undefined;
}

async function observe(state: ResolverState, host: Name, work: Work): Promise<TxtObservation> {
  const observed: TxtObservation = { links: [], siblings: [], failure: undefined };
  try {
    await observeLinks(state, host, observed, work);
    work.check(); // missing answers prove nothing if the time limit was reached
  } catch (error) {
    if (!(error instanceof Stopped) || error.by === 'aborted') throw error;
    const zone = work.reached;
    observed.failure = isSilence(error, work)
      ? silenceOf(zone, error)
      : { zone, reason: 'limit', message: error.message };
  }
  return observed;
}

async function observeLinks(
  state: ResolverState,
  host: Name,
  observed: TxtObservation,
  work: Work,
): Promise<void> {
  const context: LinkContext = { silent: new Set(), confirmed: new Set() };
  const links: ObservedLink[] = [];
  let name: Name | undefined = host;
  while (name !== undefined) {
    const next = await observeTxtLink(state, name, context, work);
    if (next.kind === 'failed') {
      observed.failure = next.failure;
      return;
    }
    links.push(next);
    observed.links.push(next.link);
    work.check();
    if (next.mostCommon?.kind !== 'alias') break;
    const { target } = next.mostCommon;
    observed.failure = whyNotFollowed(observed.links, target, work);
    name = observed.failure === undefined ? target : undefined;
  }
  const hasValues = observed.links.at(-1)?.servers.some(({ values }) => values.length > 0);
  if (observed.failure === undefined && hasValues) await probe(state, links, observed, context, work);
}

function whyNotFollowed(
  links: readonly TxtLink[],
  target: Name | undefined,
  work: Work,
): WalkFailure | undefined {
  const { host, zone } = links.at(-1) as TxtLink;
  const text = printName(host);
  if (target === undefined || target === ROOT)
    return { zone, reason: 'lame', message: `${text} is an alias whose target is missing` };
  if (links.some((link) => link.host === target))
    return { zone, reason: 'loop', message: `${text} is an alias that leads back to ${printName(target)}` };
  if (links.length <= work.limits.cnames) return undefined;
  return { zone, reason: 'limit', message: `there are more than ${work.limits.cnames} aliases` };
}

/** Probes for a wildcard again: a value at the end of the aliases may also appear only sometimes. */
async function probe(
  state: ResolverState,
  links: readonly ObservedLink[],
  observed: TxtObservation,
  { silent }: LinkContext,
  work: Work,
): Promise<void> {
  const first = links[0] as ObservedLink;
  const last = links.at(-1) as ObservedLink;
  const isAlias = links.length > 1;
  const [probed, primaries, answers] = await Promise.all([
    probeSiblings(state, first, isAlias, work),
    Promise.all(links.map(({ path }) => askPrimaries(state, path, silent, work))),
    Promise.all(
      (isAlias || first.link.host === first.zone.zone ? last.answered : []).map((to) =>
        askForTxt(state, work, last.zone, to, last.link.host),
      ),
    ),
  ]);
  observed.siblings = probed.siblings;
  const again = answers.map(({ evidence }) => evidence);
  observed.links = observed.links.map((link, i) => ({
    ...link,
    primaries: primaries[i] ?? [],
    again: [...(link === first.link ? probed.again : []), ...(link === last.link ? again : [])],
  }));
}

async function askEveryResolver(
  state: ResolverState,
  host: Name,
  work: Work,
): Promise<TxtResolverEvidence[]> {
  const { addresses = [] } = state.around.publicResolvers ?? {};
  return Promise.all(addresses.map((address) => askResolverForTxt(state, address, host, work)));
}

async function askResolverForTxt(
  state: ResolverState,
  address: string,
  host: Name,
  work: Work,
): Promise<TxtResolverEvidence> {
  try {
    const reply = await askResolver(state, work, address, { name: host, type: TYPE.TXT });
    if (reply.kind === 'failed') return { address, values: undefined, error: reply.error };
    return { address, values: reply.kind === 'answer' ? reply.rdata.map(joinStrings) : [], error: undefined };
  } catch (error) {
    if (!(error instanceof Stopped) || error.by === 'aborted') throw error;
    return { address, values: undefined, error: error.message };
  }
}
