// Replays external-dns with a model of its planner and its TXT registry. The model reads the records, adjusts the wanted
// endpoints, and sends the difference. A second round must find no difference. Older releases name the lists `Create` and so
// on, send no Content-Type, and write a second TXT record for each endpoint.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ownApi, startTestApi } from '../../support/api/api.ts';
import { scale } from '../../support/tests/scale.ts';

interface Endpoint {
  readonly dnsName: string;
  readonly recordType: string;
  readonly targets: readonly string[];
  readonly recordTTL?: number | undefined;
  readonly providerSpecific?: readonly { name: string; value: string }[] | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

const api = ownApi(() => startTestApi());
const MEDIA_TYPE = 'application/external.dns.webhook+json;version=1';
const MANAGED = ['A', 'AAAA', 'CNAME'];
const RELEASES = ['older', 'newer'] as const;
type Release = (typeof RELEASES)[number];
const OWNER = 'heritage=external-dns,external-dns/owner=test';

/** Names of TXT records with `--txt-prefix=extdns-%{record_type}. --txt-wildcard-replacement=any`. */
const registryName = (dnsName: string, type: string) =>
  `extdns-${type.toLowerCase()}.${dnsName.replace(/^\*/, 'any')}`;

/** A controller with `--policy=sync`. */
class Controller {
  readonly #release: Release;
  readonly #key: string;
  #include: readonly string[] = [];

  constructor(release: Release, key: string) {
    this.#release = release;
    this.#key = key;
  }

  async #send(method: string, path: string, body?: unknown) {
    const headers = {
      authorization: `Basic ${btoa(`x:${this.#key}`)}`,
      accept: MEDIA_TYPE,
      'content-type': this.#release === 'older' ? '' : MEDIA_TYPE,
    };
    const text = body === undefined ? undefined : JSON.stringify(body);
    const answer = await api.ask(method, `/external-dns${path}`, { as: null, headers, body: text });
    expect([answer.status, answer.text]).toEqual([
      method === 'POST' && path === '/records' ? 204 : 200,
      answer.text,
    ]);
    if (answer.status === 200)
      expect([answer.headers['content-type'], answer.headers.vary]).toEqual([MEDIA_TYPE, 'Content-Type']);
    return answer.body;
  }

  async negotiate(): Promise<void> {
    this.#include = (await this.#send('GET', '')).include;
  }

  /** Returns the number of changes that it sent. */
  async sync(wanted: readonly Endpoint[]): Promise<number> {
    const all: Endpoint[] = await this.#send('GET', '/records');
    const owned = new Map<string, string>();
    const current: Endpoint[] = [];
    for (const endpoint of all) {
      const text = endpoint.recordType === 'TXT' ? endpoint.targets[0]?.replaceAll('"', '') : undefined;
      if (text?.startsWith('heritage=external-dns')) owned.set(endpoint.dnsName, text);
      else current.push(endpoint);
    }
    const isOwned = ({ dnsName, recordType }: Endpoint) => owned.has(registryName(dnsName, recordType));
    const inDomains = ({ dnsName }: Endpoint) =>
      this.#include.some((each) => dnsName === each || dnsName.endsWith(`.${each}`));
    const adjusted: Endpoint[] = await this.#send('POST', '/adjustendpoints', wanted);
    const plan = { create: [], updateOld: [], updateNew: [], delete: [] } as Record<string, Endpoint[]>;
    const of = (list: readonly Endpoint[], { dnsName, recordType }: Endpoint) =>
      list.find((each) => each.dnsName === dnsName && each.recordType === recordType);
    for (const desired of adjusted.filter(inDomains)) {
      const now = of(current, desired);
      const atName = current.filter(
        ({ dnsName, recordType }) => dnsName === desired.dnsName && MANAGED.includes(recordType),
      );
      if (now === undefined) {
        if (atName.every(isOwned)) plan.create?.push(desired);
      } else if (isOwned(now) && differs(desired, now)) {
        plan.updateOld?.push(now);
        plan.updateNew?.push(desired);
      }
    }
    const unwanted = current.filter(
      (each) => MANAGED.includes(each.recordType) && isOwned(each) && of(adjusted, each) === undefined,
    );
    plan.delete?.push(...unwanted);
    const changes = Object.values(plan).flat().length;
    if (changes === 0) return 0;
    for (const list of Object.values(plan)) list.push(...list.flatMap((each) => this.#registryOf(each)));
    const upper = ([name, list]: [string, Endpoint[]]) =>
      [`${name[0]?.toUpperCase()}${name.slice(1)}`, list.length > 0 ? list : null] as const;
    const lists = Object.entries(plan);
    const body = this.#release === 'older' ? lists.map(upper) : lists.filter(([, list]) => list.length > 0);
    await this.#send('POST', '/records', Object.fromEntries(body));
    return changes;
  }

  #registryOf({ dnsName, recordType, providerSpecific }: Endpoint): Endpoint[] {
    const names = [registryName(dnsName, recordType)];
    if (this.#release === 'older' && recordType !== 'AAAA') names.unshift(registryName(dnsName, ''));
    return names.map((name) => ({
      ...{ dnsName: name, recordType: 'TXT', targets: [`"${OWNER}"`], providerSpecific },
      labels: { ownedRecord: dnsName },
    }));
  }
}

function differs(desired: Endpoint, now: Endpoint): boolean {
  const targets = (each: Endpoint) => [...each.targets].map((target) => target.toLowerCase()).sort();
  const properties = ({ providerSpecific = [] }: Endpoint) =>
    Object.fromEntries(providerSpecific.map(({ name, value }) => [name, value]));
  const ttl = desired.recordTTL ?? 0;
  return (
    JSON.stringify(targets(desired)) !== JSON.stringify(targets(now)) ||
    (ttl > 0 && ttl !== now.recordTTL) ||
    JSON.stringify(properties(desired)) !== JSON.stringify(properties(now))
  );
}

const annotated = (isProxied: boolean | undefined) =>
  isProxied === undefined
    ? {}
    : {
        providerSpecific: [
          { name: 'webhook/zonefleet-proxied', value: String(isProxied) },
          { name: 'alias', value: 'true' },
        ],
      };

/** Generates the endpoints that a cluster wants at some names: addresses of one or both families, or a host. */
function aDesired(domains: readonly string[]): fc.Arbitrary<Endpoint[]> {
  const aName = fc.tuple(
    fc.constantFrom('www', 'WWW.Deep', '*.wild', 'api', 'grün', ''),
    fc.constantFrom(...domains),
    fc.constantFrom(undefined, 0, 1, 300, 1_000_000),
    fc.constantFrom(undefined, true, false),
    fc.subarray(['192.0.2.1', '192.0.2.2', '192.0.2.3'], { minLength: 1 }),
    fc.constantFrom('A', 'A+AAAA', 'CNAME'),
  );
  const nameOf = ([label, domain]: readonly [string, string, ...unknown[]]) =>
    label === '' ? domain : `${label}.${domain}`;
  return fc.uniqueArray(aName, { maxLength: 8, selector: nameOf }).map((list) =>
    list.flatMap((each): Endpoint[] => {
      const [label, , recordTTL, isProxied, targets, form] = each;
      const base = { dnsName: nameOf(each), recordTTL, ...annotated(isProxied) };
      if (form === 'CNAME' && label !== '')
        return [{ ...base, recordType: 'CNAME', targets: ['LB.Elsewhere.example'] }];
      const both = [{ ...base, recordType: 'A', targets }];
      if (form !== 'A+AAAA') return both;
      return [...both, { ...base, recordType: 'AAAA', targets: ['2001:DB8:0:0::7'] }];
    }),
  );
}

let made = 0;
const SPF = 'v=spf1 -all';

async function play(
  release: Release,
  rounds: readonly Endpoint[][],
  domains: readonly string[],
): Promise<void> {
  for (const name of domains) {
    await api.makeDomain(name);
    await api.ask('POST', `/domains/${name}/records/`, {
      body: { name: '@', type: 'TXT', destination: SPF },
    });
  }
  const controller = new Controller(release, await api.makeKey({ domains: [...domains] }));
  await controller.negotiate();
  for (const wanted of [...rounds, []]) {
    await controller.sync(wanted);
    expect(await controller.sync(wanted)).toBe(0);
    const lists = await Promise.all(domains.map((name) => api.ask('GET', `/domains/${name}/records/`)));
    const records: { type: string; proxied?: boolean; destination: string }[] = lists.flatMap(({ body }) =>
      body.filter(({ editable }: { editable: boolean }) => editable),
    );
    const found = records.filter(({ type }) => MANAGED.includes(type));
    expect(found.map(({ type, proxied }) => `${type} ${proxied}`).sort()).toEqual(
      wanted.flatMap((each) => each.targets.map(() => `${each.recordType} ${isAnnotated(each)}`)).sort(),
    );
    if (wanted.length > 0) continue;
    expect(records.map(({ destination }) => destination)).toEqual(domains.map(() => SPF));
  }
}

const isAnnotated = ({ providerSpecific }: Endpoint) => providerSpecific?.[0]?.value === 'true';

it.each(RELEASES)('external-dns sends nothing in its second round (%s releases)', async (release) => {
  const someRounds = fc.constant(0).chain(() => {
    const domains = [`a${++made}.example`, `b.a${made}.example`];
    return fc.tuple(fc.array(aDesired(domains), { minLength: 1, maxLength: 4 }), fc.constant(domains));
  });
  await fc.assert(
    fc.asyncProperty(someRounds, ([rounds, domains]) => play(release, rounds, domains)),
    { numRuns: scale(150, 15), endOnFailure: true },
  );
});
