// Whether the answers to an order's challenges stand: only then is the authority told to look, since a failed look counts.

import { parseName } from '../../src/dns/name.ts';
import type { Resolver } from '../../src/resolver/resolver.ts';
import type { OrderWork } from '../../src/store/certificates/order-work.ts';
import { edgesHaveSeen } from '../../src/store/edges/edges-have-seen.ts';
import { inSync } from '../../src/store/feed/in-sync.ts';
import type { Database } from '../../src/store/postgres/database.ts';

interface SeenOptions {
  readonly db: Database;
  readonly resolver: Pick<Resolver, 'observeTxt'>;
  /** When nodes are missing so long, what the servers answer decides. */
  readonly askServersAfterMs: number;
  /** So long the edges are waited for: they report every ten seconds, and one that lags keeps no order up. */
  readonly edgesFollowMs: number;
}

export async function areAnswersSeen(
  { db, resolver, askServersAfterMs, edgesFollowMs }: SeenOptions,
  work: OrderWork,
  signal: AbortSignal,
): Promise<boolean> {
  const waitedMs = work.at.getTime() - (work.publishedAt ?? work.at).getTime();
  const texts = work.challenges.filter(({ type }) => type === 'dns-01');
  const isAtEdges = texts.length < work.challenges.length;
  if (isAtEdges && waitedMs < edgesFollowMs && !(await edgesHaveSeen(db, work.domainId))) return false;
  if (texts.length === 0) return true;
  const { changeId } = work;
  if (changeId !== undefined && (await inSync(db, [changeId])).get(changeId)?.inSync === true) return true;
  if (waitedMs < askServersAfterMs) return false;
  const hosts = new Set(texts.map(({ host }) => host));
  for (const host of hosts) {
    const values = texts.filter((text) => text.host === host).map(({ value }) => value);
    if (!(await isShown(resolver, `_acme-challenge.${host}.`, values, signal))) return false;
  }
  return true;
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
