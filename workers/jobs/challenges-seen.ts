// Whether the answers to an order's challenges stand: only then is the authority told to look, since a failed look counts.

import { parseName } from '../../src/dns/name.ts';
import { haveAllSeen, haveHadTime, haveTheirsSeen } from '../../src/edge/certificates/judge-sights.ts';
import type { Resolver } from '../../src/resolver/resolver.ts';
import type { OrderWork } from '../../src/store/certificates/order-work.ts';
import { loadEdgeSights } from '../../src/store/edges/load-edge-sights.ts';
import { inSync } from '../../src/store/feed/in-sync.ts';
import type { Database } from '../../src/store/postgres/database.ts';
import { addressesOf } from './plan-order.ts';

interface SeenOptions {
  readonly db: Database;
  readonly resolver: Pick<Resolver, 'observeTxt' | 'observeAddresses'>;
  /** When nodes are missing so long, what the servers answer decides. */
  readonly askServersAfterMs: number;
}

export async function areAnswersSeen(
  { db, resolver, askServersAfterMs }: SeenOptions,
  work: OrderWork,
  signal: AbortSignal,
): Promise<boolean> {
  const waitedMs = work.at.getTime() - (work.publishedAt ?? work.at).getTime();
  const texts = work.challenges.filter(({ type }) => type === 'dns-01');
  const hosts = work.challenges.filter(({ type }) => type === 'http-01').map(({ host }) => host);
  if (hosts.length > 0 && !(await areAtEdges({ db, resolver }, { ...work, hosts, waitedMs }, signal)))
    return false;
  if (texts.length === 0) return true;
  const { changeId } = work;
  if (changeId !== undefined && (await inSync(db, [changeId])).get(changeId)?.inSync === true) return true;
  if (waitedMs < askServersAfterMs) return false;
  const zones = new Set(texts.map(({ host }) => host));
  for (const host of zones) {
    const values = texts.filter((text) => text.host === host).map(({ value }) => value);
    if (!(await isShown(resolver, `_acme-challenge.${host}.`, values, signal))) return false;
  }
  return true;
}

async function areAtEdges(
  { db, resolver }: Pick<SeenOptions, 'db' | 'resolver'>,
  {
    domainId,
    hosts,
    waitedMs,
  }: { readonly domainId: number; readonly hosts: readonly string[]; readonly waitedMs: number },
  signal: AbortSignal,
): Promise<boolean> {
  const sights = await loadEdgeSights(db, domainId);
  if (haveAllSeen(sights)) return true;
  if (!haveHadTime(waitedMs)) return false;
  const leadsTo = new Set<string>();
  for (const host of hosts) {
    const found = addressesOf(await resolver.observeAddresses(parseName(`${host}.`), { signal }));
    if (found.length === 0) return haveTheirsSeen(sights, undefined, waitedMs);
    for (const address of found) leadsTo.add(address);
  }
  return haveTheirsSeen(sights, leadsTo, waitedMs);
}

/** Every address of the zone's nameservers that answers shows all values, and one does. */
async function isShown(
  resolver: SeenOptions['resolver'],
  host: string,
  values: readonly string[],
  signal: AbortSignal,
): Promise<boolean> {
  const { links } = await resolver.observeTxt(parseName(host), { signal, fresh: true });
  const [link] = links;
  if (link === undefined || links.length > 1) return false;
  const answers = link.servers.filter(({ outcome }) => outcome !== 'timeout');
  const shows = (found: readonly Uint8Array[]) => {
    const texts = found.map((one) => Buffer.from(one).toString('latin1'));
    return values.every((value) => texts.includes(value));
  };
  return answers.length > 0 && answers.every((answer) => shows(answer.values));
}
