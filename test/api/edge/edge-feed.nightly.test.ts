import fc from 'fast-check';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { setSuspended } from '../../../src/store/change/update-domain.ts';
import { setServedRegions } from '../../../src/store/edges/edge-regions.ts';
import { revokeEdge } from '../../../src/store/edges/edges.ts';
import { ownApi } from '../../support/api/api.ts';
import { startEdgeApi } from '../../support/edge/edge-api.ts';
import { ConfigFollower } from '../../support/edge/follow-config.ts';
import { until } from '../../support/tests/until.ts';

const api = ownApi(() => startEdgeApi());

const REGIONS = ['eu', 'us'];
const SERVED = [null, ['eu'], ['us'], REGIONS, []];

/** The domains that a new edge holds after its snapshot. */
async function snapshotOf(token: string): Promise<ReadonlyMap<string, unknown>> {
  let isWhole = false;
  const whole = new ConfigFollower({
    url: api.url,
    token,
    onLine: (line) => {
      if ('snapshot' in line && line.snapshot === 'end') isWhole = true;
    },
  });
  whole.start();
  await until(() => isWhole, 'the snapshot is whole');
  await whole.stop();
  return whole.held;
}

const same = (a: ReadonlyMap<string, unknown>, b: ReadonlyMap<string, unknown>) =>
  a.size === b.size && [...a].every(([name, held]) => JSON.stringify(held) === JSON.stringify(b.get(name)));

const NAMES = ['alpha', 'beta', 'gamma', 'delta', 'edge'].map((name) => `${name}.example.com`);

type Step =
  | {
      readonly kind: 'add' | 'change' | 'remove' | 'settings' | 'suspend' | 'regions' | 'rule' | 'serve';
      readonly domain: number;
      readonly n: number;
    }
  | { readonly kind: 'break' | 'pause' | 'resume' | 'forget'; readonly edge: number };

const steps = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constantFrom(...'add add change remove settings suspend regions rule serve'.split(' ')),
      domain: fc.nat(NAMES.length - 1),
      n: fc.nat(9),
    }),
    fc.record({ kind: fc.constantFrom('break', 'pause', 'resume', 'forget'), edge: fc.nat(3) }),
  ),
  { minLength: 15, maxLength: 40 },
) as fc.Arbitrary<Step[]>;

describe('edges that follow the feed', () => {
  it('hold the same as a new edge at the end, whatever was edited and wherever their streams broke', async () => {
    const ids = new Map<string, number>();
    for (const name of NAMES) ids.set(name, (await api.makeDomain(name)).id);
    let run = 0;
    await fc.assert(
      fc.asyncProperty(steps, async (sequence) => {
        run++;
        const tokens = await Promise.all(
          [0, 1, 2, 3].map((i) => api.makeEdge(`follower-${run}-${i}`, REGIONS[i % 2])),
        );
        const edges = tokens.map((token) => new ConfigFollower({ url: api.url, token }));
        for (const edge of edges.slice(0, 3)) edge.start();
        for (const step of sequence) {
          if ('edge' in step) {
            const edge = edges[step.edge] as ConfigFollower;
            if (step.kind !== 'resume') await edge.stop();
            if (step.kind === 'forget')
              edges[step.edge] = new ConfigFollower({ url: api.url, token: tokens[step.edge] as string });
            if (step.kind !== 'pause') edges[step.edge]?.start();
            continue;
          }
          await edit(step, NAMES[step.domain] as string, ids.get(NAMES[step.domain] as string) as number);
        }
        for (const edge of edges) edge.start();
        for (const [i, edge] of edges.entries()) {
          const wanted = await snapshotOf(tokens[i] as string);
          await until(
            () => same(edge.held, wanted),
            () => `edge ${i}: ${JSON.stringify([...edge.held])} is not ${JSON.stringify([...wanted])}`,
            20_000,
          );
        }
        await Promise.all(edges.map((edge) => edge.stop()));
        for (const i of [0, 1, 2, 3]) await revokeEdge(api.db, `follower-${run}-${i}`);
      }),
      { numRuns: 8, endOnFailure: true },
    );
  });

  async function edit(
    { kind, n }: Extract<Step, { domain: number }>,
    name: string,
    id: number,
  ): Promise<void> {
    const records = `/domains/${name}/records/`;
    const { body: rows } = await api.ask('GET', `${records}?type=A`);
    const found = rows[n % Math.max(1, rows.length)];
    const isEven = n % 2 === 0;
    switch (kind) {
      case 'add': {
        const destination = `198.51.100.${n + 1}`;
        const body = { name: `h${n}`, type: 'A', destination, proxied: n % 3 !== 0 };
        return void (await api.ask('POST', records, { body }));
      }
      case 'change':
        if (found) await api.ask('PUT', records + found.id, { body: { proxied: isEven, port: 8000 + n } });
        return;
      case 'remove':
        if (found) await api.ask('DELETE', records + found.id);
        return;
      case 'settings':
        return void (await api.ask('PUT', `/domains/${name}`, { body: { sec_no_sniff: isEven } }));
      case 'suspend':
        return void (await setSuspended(api.db, { domainId: id, suspended: isEven }));
      case 'regions':
        return void (await setServedRegions(api.db, id, SERVED[n % SERVED.length] ?? null));
      case 'rule': {
        const body = { target: `https://example.net/${n}`, path_includes: ['/*'] };
        return void (await api.ask('POST', `/domains/${name}/rules/redirect/`, { body }));
      }
      case 'serve': {
        const served = isEven ? 'none' : 'full';
        return void (await sql`update domains set served = ${served} where id = ${id}`.execute(api.db));
      }
    }
  }

  it('continue in the middle of a snapshot where their stream broke', async () => {
    await api.query`
      insert into edge_changes (name) select 'many' || i || '.example.net.' from generate_series(1, 3) i`;
    for (const n of [1, 2, 3, 4]) {
      await api.makeDomain(`part${n}.example.com`);
      const record = { name: 'www', type: 'A', destination: '198.51.100.1', proxied: true };
      await api.ask('POST', `/domains/part${n}.example.com/records/`, { body: record });
    }
    const token = await api.makeEdge('middle');
    const all: { cursor: string; domain?: string }[] = [];
    const first = new ConfigFollower({ url: api.url, token, onLine: (line) => all.push(line) });
    first.start();
    await until(() => all.some(({ domain }) => domain === 'part4.example.com'));
    await first.stop();
    const at = all.findIndex(({ domain }) => domain === 'part2.example.com');
    const rest: { cursor: string; domain?: string; snapshot?: string }[] = [];
    const second = new ConfigFollower({ url: api.url, token, onLine: (line) => rest.push(line) });
    second.cursor = all[at]?.cursor;
    second.start();
    await until(() => rest.some((line) => line.snapshot === 'end'));
    await second.stop();
    expect(rest.some((line) => line.snapshot === 'begin')).toBe(false);
    const end = rest.findIndex((line) => line.snapshot === 'end');
    const domains = rest.slice(0, end).flatMap(({ domain }) => domain ?? []);
    expect(domains[0]).toBe('part3.example.com');
    expect(domains).not.toContain('part1.example.com');
  });

  it('receive everything again if their cursor is of another history', async () => {
    const edge = api.follow(await api.makeEdge('history'));
    await until(() => edge.snapshots === 1 && edge.held.has('part4.example.com'));
    await api.query`update feed set epoch = gen_random_uuid()`;
    await until(() => edge.snapshots === 2 && edge.held.has('part4.example.com'));
    await api.query`delete from edge_changes where name = 'part4.example.com.'`;
    await edge.stop();
    await api.query`update feed set epoch = gen_random_uuid()`;
    edge.start();
    await until(() => edge.snapshots === 3 && !edge.held.has('part4.example.com'));
  });

  it('miss nothing of a transaction that commits late', async () => {
    await api.makeDomain('late.example.com');
    await api.ask('POST', '/domains/late.example.com/records/', {
      body: { name: 'www', type: 'A', destination: '198.51.100.1', proxied: true },
    });
    const edge = api.follow(await api.makeEdge('late'));
    await until(() => edge.held.has('late.example.com') && edge.held.has('part1.example.com'));
    let commit: () => void = () => {};
    let hasWritten = false;
    const late = api.db.transaction().execute(async (trx) => {
      await sql`update domains set sec_no_sniff = not sec_no_sniff where name = 'late.example.com.'`.execute(
        trx,
      );
      hasWritten = true;
      await new Promise<void>((resolve) => {
        commit = resolve;
      });
    });
    await until(() => hasWritten);
    const before = edge.held.get('late.example.com')?.version;
    await api.ask('PUT', '/domains/part1.example.com', { body: { sec_no_sniff: true } });
    await until(() => edge.configFor('part1.example.com')?.settings.sec_no_sniff === true);
    await edge.stop();
    commit();
    await late;
    edge.start();
    await until(() => edge.held.get('late.example.com')?.version !== before);
  });
});
