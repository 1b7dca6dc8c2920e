// Plans the names of an order, and checks whether its challenge responses are in place.

import type { TargetEvidence } from '../../checks/aname/target-evidence.ts';
import { caaNames, judgeCaa } from '../../checks/caa/judge-caa.ts';
import { parseName } from '../../dns/name.ts';
import { haveAllSeen, haveHadTime, haveTheirsSeen } from '../../edge/certificates/judge-sights.ts';
import {
  areCovered,
  type PlannedNames,
  planHosts,
  planWildcards,
} from '../../edge/certificates/plan-names.ts';
import type { Resolver } from '../../resolver/resolver.ts';
import { loadEdgeSights } from '../../store/edges/read-edge-feed.ts';
import { inSync } from '../../store/feed/in-sync.ts';
import type { Database } from '../../store/postgres/database.ts';
import { loadEdgeAddresses, loadProxied, type OrderWork, type StoredFinding } from './sql-orders.ts';

interface PlanOptions {
  readonly db: Database;
  readonly resolver: Pick<Resolver, 'observeCaa' | 'observeAddresses'>;
}

interface Issuer {
  readonly identities: readonly string[];
  readonly accountUrl: string;
}

interface PlannedOrder {
  readonly names: readonly string[];
  readonly findings: readonly StoredFinding[];
}

export async function planOrder(
  options: PlanOptions,
  work: OrderWork,
  issuer: Issuer,
  signal: AbortSignal,
): Promise<PlannedOrder> {
  const planned = await wantedNames(options.db, work);
  const findings: StoredFinding[] = planned.left.map(({ name, why }) => ({
    code: 'NAME_LEFT_OUT',
    message:
      why === 'too_many'
        ? `${name} is left out: a certificate has at most 100 names.`
        : `${name} is left out: authorities accept only letters, digits and hyphens.`,
  }));
  const method = work.dnsMode === 'managed' ? 'dns-01' : 'http-01';
  const here = work.dnsMode === 'external' ? await loadEdgeAddresses(options.db, work) : undefined;
  const names: string[] = [];
  for (const name of planned.names) {
    const message =
      (here && (await elsewhere(options.resolver, name, here, signal))) ??
      (await forbidden(options.resolver, name, { ...issuer, method }, signal));
    if (message === undefined) names.push(name);
    else findings.push(message);
  }
  return { names, findings };
}

export async function wantedNames(db: Database, work: OrderWork): Promise<PlannedNames> {
  return work.dnsMode === 'managed'
    ? planWildcards(work.domain, await loadProxied(db, work, 'levels'))
    : planHosts(await loadProxied(db, work, 'names'));
}

/** True if an order is due while none is in progress. */
export function isOrderDue(work: OrderWork, wanted: readonly string[]): boolean {
  const { certificate, renewAt, at } = work;
  if (work.wanted || certificate === undefined) return true;
  if (certificate.kind === 'custom') return false;
  const isLeftOut = work.dnsMode === 'managed' && !areCovered(wanted, [...certificate.names, ...work.names]);
  return work.attempts > 0 || isLeftOut || renewAt === undefined || renewAt <= at;
}

async function elsewhere(
  resolver: PlanOptions['resolver'],
  name: string,
  here: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<StoredFinding | undefined> {
  const found = addressesOf(await resolver.observeAddresses(parseName(`${name}.`), { signal }));
  const away = found.find((address) => !here.has(address)); // the authority may connect to it, and one failed name fails the order
  if (found.length > 0 && away === undefined) return undefined;
  const message =
    away === undefined || !found.some((address) => here.has(address))
      ? `${name} does not resolve to the edges: point it there, and try again.`
      : `${name} also resolves to ${away}, which is not an edge: remove that address, and try again.`;
  return { code: 'NOT_AT_EDGES', message };
}

function addressesOf({ v4, v6 }: TargetEvidence): string[] {
  return [v4, v6].flatMap((family) => (family.kind === 'found' ? family.addresses : []));
}

async function forbidden(
  resolver: PlanOptions['resolver'],
  name: string,
  issuer: Issuer & { readonly method: 'dns-01' | 'http-01' },
  signal: AbortSignal,
): Promise<StoredFinding | undefined> {
  if (issuer.identities.length === 0) return undefined;
  const [own = name] = caaNames(name);
  const message = judgeCaa(name, await resolver.observeCaa(parseName(`${own}.`), { signal }), issuer);
  return message === undefined ? undefined : { code: 'CAA_FORBIDS', message: `${message}.` };
}

interface SeenOptions {
  readonly db: Database;
  readonly resolver: Pick<Resolver, 'observeTxt' | 'observeAddresses'>;
  /** After this time, the answers of the servers decide, even if nodes are missing. */
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

/** True if every nameserver address that responds shows all values, and at least one responds. */
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
