// Sends valid requests to the APIs of other systems after changing paths, methods, headers, queries and bodies at random. No
// request causes an internal error.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Route } from '../../src/api/calls/route.ts';
import { COMPAT_ROUTES } from '../../src/features/every-route.ts';
import { ownApi, startTestApi } from '../support/api/api.ts';
import { spoiling } from '../support/api/schema-values.ts';
import { scale } from '../support/tests/scale.ts';

const REQUESTS_SENT = scale(20_000, 400);
/** Number of requests after which the domain is replaced, unless a request deletes it earlier. */
const REQUESTS_PER_DOMAIN = 100;

const api = ownApi(() => startTestApi());

interface Samples {
  /** Valid bodies of the operations whose ids match. They are rarely sent to other operations. */
  readonly bodies?: readonly (readonly [RegExp, unknown])[];
  readonly queries?: readonly Readonly<Record<string, string>>[];
  readonly params?: Readonly<Record<string, readonly string[]>>;
}

const endpoint = (dnsName: string, recordType: string, target: string) => ({
  ...{ dnsName, recordType, targets: [target], recordTTL: 300, labels: { owner: 'a' } },
  providerSpecific: [{ name: 'webhook/zonefleet-proxied', value: 'false' }],
});
const rrset = (name: string, type: string, changetype: string, content: string) => ({
  ...{ name: `${name}.`, type, ttl: 300, changetype, records: [{ content, disabled: false }] },
  comments: [],
});

/** Valid requests, in which `{}` stands for the domain. */
const SAMPLES: Readonly<Record<string, Samples>> = {
  httpreq: {
    bodies: [
      [/./, { fqdn: '_acme-challenge.{}.', value: 'ooX7ieSh' }],
      [/./, { domain: '*.{}', token: 'a', keyAuth: 'b.c' }],
    ],
  },
  dyndns2: {
    queries: [
      { hostname: 'www.{},{}', myip: '192.0.2.7,2001:db8::7', system: 'dyndns' },
      { hostname: 'www.{}', myipv6: '2001:db8::7' },
      { hostname: 'www.{}' },
    ],
  },
  'external-dns': {
    bodies: [
      [
        /^apply/,
        {
          create: [endpoint('www.{}', 'A', '192.0.2.1'), endpoint('_s._tcp.{}', 'SRV', '1 2 3 a.example')],
          updateOld: [endpoint('{}', 'TXT', '"a" "b"')],
          updateNew: [endpoint('{}', 'TXT', 'b')],
          delete: [endpoint('{}', 'MX', '10 mail.example')],
        },
      ],
      [/^apply/, { Create: [endpoint('n.{}', 'NAPTR', '1 2 "s" "S" "" a.example.')], UpdateOld: null }],
      [/^adjust/, [endpoint('www.{}', 'CNAME', 'lb.example'), endpoint('{}', 'AAAA', '2001:db8::1')]],
    ],
  },
  pdns: {
    bodies: [
      [
        /PatchZone|UpdateZone/,
        {
          rrsets: [
            rrset('www.{}', 'A', 'REPLACE', '192.0.2.1'),
            rrset('{}', 'TXT', 'EXTEND', '"a"'),
            rrset('{}', 'MX', 'DELETE', '10 mail.example.'),
            rrset('_s._tcp.{}', 'SRV', 'PRUNE', '1 2 3 a.example.'),
          ],
        },
      ],
      [/CreateZone/, { name: 'new.{}.', kind: 'Native', rrsets: [rrset('new.{}', 'A', '', '192.0.2.1')] }],
      [/CreateZone/, { name: 'copy.{}.', kind: 'Slave', masters: ['9.9.9.9'], nameservers: [] }],
      [/UpdateZone/, { kind: 'Master', dnssec: false, account: '', api_rectify: true, masters: [] }],
      [/Metadata/, { kind: 'ALLOW-AXFR-FROM', metadata: ['9.9.9.9'] }],
      [/Metadata/, { metadata: ['key.{}.'] }],
      [/TsigKey/, { name: 'key.{}', algorithm: 'hmac-sha256', key: 'c2VjcmV0IG9mIGEga2V5IG9mIGEgdGVzdA==' }],
      [/Cryptokey/, { keytype: 'ksk', active: true }],
    ],
    queries: [
      { zone: '{}.', dnssec: 'false' },
      { rrsets: 'false', rrset_name: 'www.{}.', rrset_type: 'A' },
      { q: 'www*', max: '10', object_type: 'record' },
      { domain: '{}' },
    ],
    params: {
      kind: [
        'ALLOW-AXFR-FROM',
        'TSIG-ALLOW-AXFR',
        'ALSO-NOTIFY',
        'AXFR-MASTER-TSIG',
        'SOA-EDIT',
        'X-A',
        'LUA',
      ],
      id: ['1', 'key', 'key.'],
    },
  },
};

const ODD = ['', '.', '..', '*', '%00', '%2F', '=2E', '=', '%5C', '%F0%9F%90%89', 'a'.repeat(300), '-1', '@'];
/** Parts of URLs. A lone surrogate cannot be encoded in a URL. */
const odd = fc.oneof(
  fc.constantFrom(...ODD),
  fc
    .string({ unit: 'binary', maxLength: 30 })
    .filter((text) => !/\p{Surrogate}/u.test(text))
    .map(encodeURIComponent),
);
const rarely = <T>(arbitrary: fc.Arbitrary<T>, weight = 6) =>
  fc.oneof({ weight, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });

const aHeader = fc.oneof(
  fc.tuple(
    fc.constantFrom(
      'content-type',
      'accept',
      'idempotency-key',
      'expect',
      'x-http-method-override',
      'origin',
    ),
    fc.constantFrom(
      '',
      'text/html',
      'application/json',
      'application/xml; charset=x',
      '*/*',
      '"',
      'a'.repeat(500),
    ),
  ),
  fc.tuple(
    fc.constantFrom('authorization', 'x-api-key'),
    fc.constantFrom('', 'Basic', 'Basic =', 'Basic Og==', 'Bearer x', `Basic ${'A'.repeat(999)}`, 'Digest a'),
  ),
);

/** Generates a request in which `{}` stands for the domain. */
function aRequest(routes: readonly Route[], { bodies = [], queries = [{}], params = {} }: Samples) {
  const aQuery = fc
    .tuple(fc.constantFrom(...queries), rarely(fc.tuple(odd, odd)), rarely(odd, 3), fc.nat())
    .map(([valid, more, value, at]) => {
      const pairs = Object.entries(valid).map(([name, text]) => [name, encodeURIComponent(text)]);
      const changed = pairs[at % Math.max(1, pairs.length)];
      if (value !== undefined && changed !== undefined) changed[1] = value;
      return [...pairs, ...(more === undefined ? [] : [more])].map((pair) => pair.join('=')).join('&');
    });
  const all = [undefined, ...bodies.map(([, body]) => body)];
  const bodyOf = ({ operationId }: Route) => {
    const own = bodies.flatMap(([operations, body]) => (operations.test(operationId) ? [body] : []));
    const valid = fc.constantFrom(...(own.length > 0 ? own : all));
    return fc
      .tuple(
        fc.oneof({ weight: 9, arbitrary: valid }, fc.constantFrom(...all)),
        fc.oneof(fc.constant([]), fc.array(spoiling, { maxLength: 3 })),
      )
      .map(([body, spoils]) => JSON.stringify(spoils.reduce((value, spoil) => spoil(value ?? {}), body)));
  };
  const raw = fc.constantFrom(undefined, '', '{', 'null', '[]', '"x"', '\ufeff{}', '{"a":1,"a":2}', '[[[[');
  const writing = routes.filter(({ method }) => method !== 'GET');
  const aRoute =
    writing.length === 0
      ? fc.constantFrom(...routes)
      : fc.oneof(fc.constantFrom(...routes), fc.constantFrom(...writing));
  return aRoute.chain((route) =>
    fc
      .record({
        route: fc.constant(route),
        method: rarely(fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'), 12),
        segment: rarely(fc.tuple(odd, fc.nat()), 8),
        param: fc.tuple(rarely(odd), fc.nat()),
        query: fc.oneof(fc.constant(''), aQuery),
        body: fc.oneof({ weight: 9, arbitrary: bodyOf(route) }, { weight: 1, arbitrary: raw }),
        headers: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, fc.array(aHeader, { maxLength: 3 })),
        as: fc.constantFrom('owner', 'owner', 'owner', 'editor', 'viewer', 'operator', 'narrowed', null),
      })
      .map(({ route, segment, param: [oddParam, nth], query, method = route.method, ...rest }) => {
        const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
          const known = name === 'domain' ? ['{}', '{}.'] : (params[name] ?? ['1']);
          return oddParam ?? (known[nth % known.length] as string);
        });
        const segments = path.split('/');
        if (segment !== undefined) segments[1 + (segment[1] % segments.length)] = segment[0];
        const url = `${segments.join('/') || '/'}${query === '' ? '' : `?${query}`}`;
        return { ...rest, method, url: url.startsWith('/') ? url : `/${url}` };
      })
      .filter(({ url }) => URL.canParse(url, 'http://localhost')),
  );
}

it.each(
  Object.entries(SAMPLES),
)('%s responds to every request without an internal error', async (name, samples) => {
  const routes = COMPAT_ROUTES.filter(({ compat }) => compat?.name === name);
  const statuses = new Map<number, number>();
  let sent = 0;
  let domain = '';
  let isDeleted = false;
  let narrowed = '';
  await fc.assert(
    fc.asyncProperty(aRequest(routes, samples), async ({ method, url, body, headers, as }) => {
      if (sent++ % REQUESTS_PER_DOMAIN === 0 || isDeleted) {
        isDeleted = false;
        domain = `${name}${sent}.example`;
        await api.makeDomain(domain);
        narrowed = await api.makeKey({ domains: [domain], names: [`www.${domain}`], types: ['A', 'TXT'] });
      }
      const fill = (text: string) => text.replaceAll('{}', domain);
      api.logged.length = 0;
      const { status, text } = await api.ask(method, fill(url), {
        as: as === 'narrowed' ? narrowed : as,
        headers: Object.fromEntries(headers),
        body: body === undefined || method === 'GET' || method === 'HEAD' ? undefined : fill(body),
      });
      isDeleted ||= method === 'DELETE' && status === 204;
      const errors = api.logged.filter(({ level }) => (level as number) >= 50);
      expect([status < 500, errors, status, text]).toEqual([true, [], status, text]);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }),
    { numRuns: REQUESTS_SENT, endOnFailure: true },
  );
  const done = (statuses.get(200) ?? 0) + (statuses.get(204) ?? 0);
  expect(done / sent, JSON.stringify([...statuses])).toBeGreaterThan(0.1);
});
