// A key has the same rights in the APIs of other systems as at /domains/…. Random keys send random writes to such an API,
// and the same writes as dry runs to `records/batch`. Both are allowed, or neither is.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ownApi, startTestApi, type TestAccount } from '../support/api/api.ts';
import { scale } from '../support/tests/scale.ts';

const DOMAINS = ['shop.example', 'deep.shop.example', 'off.example'] as const;
const LABELS = ['@', 'www', 'new', '_acme-challenge', '_acme-challenge.www'] as const;
const TYPES = ['A', 'AAAA', 'TXT', 'MX', 'CNAME'] as const;

interface Write {
  readonly domain: (typeof DOMAINS)[number];
  readonly name: string;
  readonly type: (typeof TYPES)[number];
  readonly removes: boolean;
  /** Makes the content differ from all others. */
  readonly serial: number;
}

const api = ownApi(async () => {
  const started = await startTestApi();
  for (const name of DOMAINS) {
    await started.makeDomain(name);
    const create = LABELS.flatMap((label) =>
      label === 'new'
        ? []
        : [
            { name: label, type: 'A', destination: '192.0.2.1' },
            { name: label, type: 'TXT', destination: 'a text' },
          ],
    );
    const { status } = await started.ask('PUT', `/domains/${name}/records/batch`, { body: { create } });
    expect(status).toBe(200);
  }
  await started.query`update domains set status = 'disabled', served = 'none', pending_since = null
    where name = 'off.example.'`;
  return started;
});

function contentOf({ type, serial }: Write): { destination: string; mx_priority?: number } {
  switch (type) {
    case 'A':
      return { destination: `10.${(serial >> 16) & 255}.${(serial >> 8) & 255}.${serial & 255}` };
    case 'AAAA':
      return { destination: `2001:db8::${serial.toString(16)}` };
    case 'MX':
      return { destination: `mail${serial}.example`, mx_priority: 10 };
    case 'CNAME':
      return { destination: `host${serial}.example` };
    default:
      return { destination: `text ${serial}` };
  }
}

const text = ({ destination, mx_priority: priority }: ReturnType<typeof contentOf>) =>
  priority === undefined ? destination : `${priority} ${destination}`;

async function held({ domain, name, type }: Write): Promise<ReturnType<typeof contentOf>[]> {
  const { body } = await api.ask('GET', `/domains/${domain}/records/?name=${name}.&type=${type}`);
  return body;
}

interface Surface {
  /** True if requests name the domain. Otherwise the API chooses the longest domain of the key that contains the name. */
  readonly namesDomain?: true;
  readonly fits: (write: Write) => boolean;
  /** Returns true if the surface accepts the write. */
  readonly send: (write: Write, key: string) => Promise<boolean>;
  /** Returns true if the surface refuses the write by a rule of its own. */
  readonly refuses?: (write: Write, names: readonly string[] | null) => Promise<boolean>;
}

const SURFACES: Readonly<Record<string, Surface>> = {
  httpreq: {
    fits: ({ name, type }) => type === 'TXT' && name.startsWith('_acme-challenge.'),
    async send(write, key) {
      const body = { fqdn: `${write.name}.`, value: text(contentOf(write)) };
      const path = `/httpreq/${write.removes ? 'cleanup' : 'present'}`;
      return (await api.ask('POST', path, { as: key, body })).status === 200;
    },
  },
  dyndns2: {
    fits: ({ type, removes }) => (type === 'A' || type === 'AAAA') && !removes,
    async send(write, key) {
      const headers = { authorization: `Basic ${btoa(`any:${key}`)}` };
      const url = `/nic/update?hostname=${write.name}&myip=${text(contentOf(write))}`;
      return /^good|^numhost/.test((await api.ask('GET', url, { as: null, headers })).text);
    },
    refuses: async (write, names) => (await held(write)).length === 0 && !names?.includes(write.name),
  },
  'external-dns': {
    fits: () => true,
    async send(write, key) {
      const old = (await held(write)).map(text);
      const endpoint = (targets: readonly string[]) =>
        targets.length === 0 ? [] : [{ dnsName: write.name, recordType: write.type, targets }];
      const made = text(contentOf(write));
      const body = write.removes
        ? { delete: endpoint(old.length > 0 ? old : [made]) }
        : { updateOld: endpoint(old), updateNew: endpoint([made]) };
      return (await api.ask('POST', '/external-dns/records', { as: key, body })).status === 204;
    },
  },
  pdns: {
    namesDomain: true,
    fits: () => true,
    async send(write, key) {
      const { domain, name, type, removes } = write;
      const made = contentOf(write);
      const content =
        type === 'TXT'
          ? `"${text(made)}"`
          : type === 'MX' || type === 'CNAME'
            ? `${text(made)}.`
            : text(made);
      const set = { name: `${name}.`, type, ttl: 300, changetype: removes ? 'DELETE' : 'REPLACE' };
      const body = { rrsets: [{ ...set, records: removes ? [] : [{ content, disabled: false }] }] };
      const url = `/api/v1/servers/localhost/zones/${domain}.`;
      const answer = await api.ask('PATCH', url, { as: null, headers: { 'x-api-key': key }, body });
      return answer.status === 204;
    },
  },
};

const someOf = <T>(values: readonly T[]) =>
  fc.oneof(fc.constant(null), fc.subarray([...values], { minLength: Math.ceil(values.length / 2) }));
const FULL_NAMES = DOMAINS.flatMap((domain) => LABELS.map((label) => fullName(label, domain)));
let serial = 0;

function fullName(label: string, domain: string): string {
  return label === '@' ? domain : `${label}.${domain}`;
}

const aKey = fc.record({
  domains: someOf(DOMAINS),
  names: someOf(FULL_NAMES),
  types: someOf(TYPES),
  readOnly: fc.integer({ max: 7, min: 0 }).map((n) => n === 0),
  expiresAt: fc.integer({ max: 9, min: 0 }).map((n) => (n === 0 ? new Date(0) : null)),
});
const aWrite = fc
  .tuple(fc.constantFrom(...DOMAINS), fc.constantFrom(...LABELS), fc.constantFrom(...TYPES), fc.boolean())
  .map(
    ([domain, label, type, removes]): Omit<Write, 'serial'> => ({
      ...{ domain, name: fullName(label, domain), type, removes },
    }),
  );
const anAccount = fc.constantFrom<TestAccount>('owner', 'owner', 'admin', 'editor', 'viewer', 'stranger');

const longestFirst = (a: string, b: string) => b.length - a.length;

it.each(Object.entries(SURFACES))('%s allows exactly what /domains/… allows', async (_, surface) => {
  const tally = { allowed: 0, refused: 0 };
  const writes = fc.array(aWrite.map((write) => ({ ...write, serial: 0 })).filter(surface.fits), {
    minLength: 1,
    maxLength: 6,
  });
  await fc.assert(
    fc.asyncProperty(anAccount, aKey, writes, async (account, scope, list) => {
      const key = await api.makeKey(scope, account);
      for (const each of list) {
        const { name, type, removes } = each;
        const usable = DOMAINS.filter((domain) => scope.domains?.includes(domain) ?? true);
        const containing = usable.filter((domain) => `.${name}`.endsWith(`.${domain}`));
        const domain = surface.namesDomain ? each.domain : (containing.sort(longestFirst)[0] ?? each.domain);
        const write = { ...each, domain, serial: ++serial };
        const records = removes ? [] : [contentOf(write)];
        const replace = [{ name: `${name}.`, type, records }];
        const url = `/domains/${domain}/records/batch?dry_run=true`;
        const { status, text: why } = await api.ask('PUT', url, { as: key, body: { replace } });
        const own = (await surface.refuses?.(write, scope.names)) ?? false;
        const allowed = await surface.send(write, key);
        expect([allowed, write, why]).toEqual([status === 200 && !own, write, why]);
        tally[allowed ? 'allowed' : 'refused']++;
      }
    }),
    { numRuns: scale(2000, 100), endOnFailure: true },
  );
  expect(Math.min(tally.allowed, tally.refused)).toBeGreaterThan(5);
});
