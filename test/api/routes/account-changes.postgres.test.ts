import { describe, expect, it } from 'vitest';
import { sharedTestApi } from '../../support/api/api.ts';
import { deleteMembership } from '../../support/database/memberships.ts';
import { until } from '../../support/tests/until.ts';

const api = sharedTestApi();
let domains = 0;

async function freshDomain(): Promise<{ name: string; id: number }> {
  const name = `f${++domains}.example`;
  const { id } = await api.makeDomain(name);
  return { name, id };
}

async function write(domain: string): Promise<number> {
  const body = { name: `n${Math.random()}`.replace('.', ''), type: 'A', destination: '192.0.2.1' };
  const answer = await api.ask('POST', `/domains/${domain}/records/`, { body });
  return Number(answer.headers['x-change-id']);
}

/** The newest change there is: the feed may still hold it back. */
async function last(): Promise<number> {
  const newest = await api.db
    .selectFrom('domain_changes')
    .select('id')
    .orderBy('id', 'desc')
    .executeTakeFirst();
  return newest?.id ?? 0;
}

const ids = ({ body }: { body: { id: number }[] }) => body.map(({ id }) => id);

/** Until nothing is held back, which transactions of other databases on the server make it do as well. */
async function settled(): Promise<void> {
  const newest = await last();
  await until(
    async () => {
      const feed = await api.ask('GET', `/changes?after=${newest - 1}`, { as: 'operator' });
      return ids(feed).includes(newest);
    },
    'the feed has the newest change',
    60_000,
  );
}

describe('the feed of an account', () => {
  it('has the changes of all its domains, oldest first, with their moves', async () => {
    const after = await last();
    const [one, two] = [await freshDomain(), await freshDomain()];
    const written = [await write(one.name), await write(two.name), await write(one.name)];
    await settled();
    const { body } = await api.ask('GET', `/changes?after=${after}`);
    expect(body.map((c: Record<string, unknown>) => [c.domain_id, c.status])).toEqual([
      [one.id, { to: 'pending' }],
      [two.id, { to: 'pending' }],
      [one.id, undefined],
      [two.id, undefined],
      [one.id, undefined],
    ]);
    expect(ids({ body }).slice(2)).toEqual(written);
    expect(body[2].records[0].after.original_name).toMatch(`.${one.name}.`);
    const gone = await api.ask('DELETE', `/domains/${two.name}`);
    expect(gone.status).toBe(200);
    await settled();
    const more = await api.ask('GET', `/changes?after=${written[2]}`);
    expect(more.body).toMatchObject([{ domain_id: two.id, status: { from: 'pending' } }]);
  });

  it('in pages is the whole feed once', async () => {
    const after = await last();
    const { name } = await freshDomain();
    for (let i = 0; i < 30; i++) await write(name);
    await settled();
    const whole = (await api.ask('GET', `/changes?after=${after}`)).body;
    expect(whole.length).toBe(31);
    for (const limit of [1, 10, 31, 32]) {
      const seen: unknown[] = [];
      for (let url: string | undefined = `/changes?after=${after}&limit=${limit}`; url !== undefined; ) {
        const page = await api.ask('GET', url);
        seen.push(...page.body);
        url = /^<([^>]+)>; rel="next"$/.exec(String(page.headers.link))?.[1];
      }
      expect(seen).toEqual(whole);
    }
  });

  it('is shown to members and global admins only', async () => {
    const after = await last();
    const { name, id } = await freshDomain();
    const change = await write(name);
    await settled();
    for (const as of ['owner', 'admin', 'editor', 'viewer', 'operator']) {
      expect(ids(await api.ask('GET', `/changes?after=${after}`, { as }))).toContain(change);
    }
    expect((await api.ask('GET', '/changes', { as: 'stranger' })).body).toEqual([]);
    await deleteMembership(api.db, id, api.accountIds.viewer);
    expect((await api.ask('GET', `/changes?after=${after}`, { as: 'viewer' })).body).toEqual([]);
  });

  it('of a key narrowed to a domain has that one alone', async () => {
    const after = await last();
    const [one, two] = [await freshDomain(), await freshDomain()];
    for (let i = 0; i < 5; i++) await write(two.name);
    const change = await write(one.name);
    const as = await api.makeKey({ domains: [one.name] });
    await settled();
    const { body } = await api.ask('GET', `/changes?after=${after}&limit=2`, { as });
    expect(body.map((c: Record<string, unknown>) => c.domain_id)).toEqual([one.id, one.id]);
    expect(body[1].id).toBe(change);
  });

  it('never lets a change in behind one that was read', async () => {
    const names = await Promise.all(Array.from({ length: 8 }, async () => (await freshDomain()).name));
    const begun = await last();
    const seen: number[] = [];
    let expected = Number.POSITIVE_INFINITY;
    const reading = until(
      async () => {
        const page = ids(await api.ask('GET', `/changes?after=${seen.at(-1) ?? begun}&limit=50`));
        seen.push(...page);
        return seen.length >= expected;
      },
      'everything was read',
      60_000,
    );
    const written = await Promise.all(
      names.map(async (name) => {
        const own: number[] = [];
        for (let i = 0; i < 12; i++) own.push(await write(name));
        return own;
      }),
    );
    expected = written.flat().length;
    await reading;
    expect(seen).toEqual(written.flat().sort((a, b) => a - b));
  });
});
