import { expect, it } from 'vitest';
import { sharedTestApi } from '../../support/api/api.ts';
import { until } from '../../support/tests/until.ts';

const api = sharedTestApi();
const URL = '/changes';

async function write(domain: string, name: string): Promise<number> {
  const body = { name, type: 'A', destination: '192.0.2.1' };
  const answer = await api.ask('POST', `/domains/${domain}/records/`, { body });
  return Number(answer.headers['x-change-id']);
}

const ids = ({ body }: { body: { id: number }[] }) => body.map(({ id }) => id);

/** The feed withholds a change while an older transaction is open, which can be one of another database. */
async function settled(changeId: number): Promise<void> {
  await until(
    async () =>
      ids(await api.ask('GET', `${URL}?after=${changeId - 1}`, { as: 'operator' })).includes(changeId),
    'the feed has the newest change',
  );
}

it('lists the changes of all domains of the account, oldest first, with their status changes', async () => {
  const { id: one } = await api.makeDomain('one.example');
  const { id: two } = await api.makeDomain('two.example');
  const written = [
    await write('one.example', 'a'),
    await write('two.example', 'a'),
    await write('one.example', 'b'),
  ];
  await settled(written[2] as number);
  const whole = await api.ask('GET', URL);
  expect(whole.body.map((c: Record<string, unknown>) => [c.domain_id, c.status])).toEqual([
    [one, { to: 'pending' }],
    [two, { to: 'pending' }],
    [one, undefined],
    [two, undefined],
    [one, undefined],
  ]);
  expect(ids(whole).slice(2)).toEqual(written);
  expect(whole.body[2].records[0].after.original_name).toBe('a.one.example.');
  expect((await api.ask('GET', URL, { as: 'stranger' })).body).toEqual([]);

  const seen: unknown[] = [];
  for (let url: string | undefined = `${URL}?limit=2`; url !== undefined; ) {
    const page = await api.ask('GET', url);
    seen.push(...page.body);
    url = /^<([^>]+)>; rel="next"$/.exec(String(page.headers.link))?.[1];
  }
  expect(seen).toEqual(whole.body);

  const as = await api.makeKey({ domains: ['two.example'] });
  const narrowed = await api.ask('GET', `${URL}?limit=2`, { as });
  expect(narrowed.body.map((c: Record<string, unknown>) => c.domain_id)).toEqual([two, two]);

  const gone = await api.ask('DELETE', '/domains/two.example');
  await settled(Number(gone.headers['x-change-id']));
  const more = await api.ask('GET', `${URL}?after=${written[2]}`);
  expect(more.body).toMatchObject([{ domain_id: two, status: { from: 'pending' } }]);
});
