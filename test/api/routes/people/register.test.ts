import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeLink } from '../../../../src/store/people/account-links.ts';
import { startTestApi, type TestApi } from '../../../support/api/api.ts';
import { Browser, givePassword, PASSWORD } from '../../../support/api/people.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ trial: { planSlug: 'pro', days: 14 } });
});
afterAll(() => api?.stop());

async function begin(browser: Browser, name: string): Promise<object> {
  expect((await browser.ask('POST', '/domains/', { name })).status).toBe(200);
  const { body } = await browser.ask('GET', `/domains/${name}/subscriptions`);
  return body.map(({ plan, is_trial }: { plan: { slug: string }; is_trial: boolean }) => [
    plan.slug,
    is_trial,
  ]);
}

it('the first domain of an account that registered itself begins with a trial, the next one does not', async () => {
  const token = await makeLink(api.database.db, { kind: 'register', email: 'ann@shop.example' });
  const ann = new Browser(api);
  expect((await ann.ask('POST', '/auth/register', { token, password: PASSWORD })).status).toBe(200);
  expect(await begin(ann, 'first.example')).toEqual([['pro', true]]);
  expect(await begin(ann, 'second.example')).toEqual([['free', false]]);
});

it('an account that an operator made has no trial', async () => {
  await givePassword(api, 'stranger');
  const stranger = new Browser(api);
  await stranger.login('stranger');
  expect(await begin(stranger, 'other.example')).toEqual([['pro', false]]);
});
