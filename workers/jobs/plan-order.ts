// For which names a certificate is ordered, after what CAA and the addresses of the names say, and when.

import type { TargetEvidence } from '../../src/checks/aname/target-evidence.ts';
import { caaNames, judgeCaa } from '../../src/checks/caa/judge-caa.ts';
import { parseName } from '../../src/dns/name.ts';
import {
  areCovered,
  type PlannedNames,
  planHosts,
  planWildcards,
} from '../../src/edge/certificates/plan-names.ts';
import type { Resolver } from '../../src/resolver/resolver.ts';
import {
  loadEdgeAddresses,
  loadProxied,
  type OrderWork,
  type StoredFinding,
} from '../../src/store/certificates/order-work.ts';
import type { Database } from '../../src/store/postgres/database.ts';

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
        ? `${name} is left out: a certificate has 100 names.`
        : `${name} is left out: authorities issue for letters, digits and hyphens only.`,
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

/** Whether it is time for an order, between two of them. */
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
  const away = found.find((address) => !here.has(address)); // the authority may be led there, and all names fail with one
  if (found.length > 0 && away === undefined) return undefined;
  const message =
    away === undefined || !found.some((address) => here.has(address))
      ? `${name} does not lead to our edges: point it there, and ask again.`
      : `${name} leads to ${away} too, which is no edge of ours: take that address away, and ask again.`;
  return { code: 'NOT_AT_EDGES', message };
}

export function addressesOf({ v4, v6 }: TargetEvidence): string[] {
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
