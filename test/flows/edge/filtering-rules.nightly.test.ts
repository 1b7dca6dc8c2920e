// Rules that may end a request, from the API call that makes them to what a visitor gets: each enforced, in a dry run, and
// switched off.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { solveChallenge } from '../../support/edge/ask-edge.ts';
import { EdgeFleet, GERMAN, HOST, VERIFIED_BOT } from '../../support/edge/edge-fleet.ts';
import { FlowRule, showRule } from '../../support/edge/show-rule.ts';

const PAGE = `http://${HOST}/page?a=1`;

let fleet: EdgeFleet;
beforeAll(async () => {
  fleet = await EdgeFleet.start();
});
afterAll(() => fleet?.stop());

const statuses = async (...visits: Parameters<EdgeFleet['visit']>[]) => {
  const found = [];
  for (const visit of visits) found.push((await fleet.visit(...visit)).status);
  return found;
};

it('drop: visitors of a listed country are refused, or all others', async () => {
  const visiting = { from: GERMAN };
  const fields = { country_match_type: 'include', countries: ['DE'] };
  const rule = await showRule(fleet, 'drop', fields, { visiting, changed: { status: 403 } });
  expect(await statuses([], [visiting])).toEqual([200, 403]);
  await rule.update({ country_match_type: 'exclude' });
  expect(await statuses([], [visiting])).toEqual([403, 200]);
  await rule.update({ countries: [] });
  expect(await statuses([], [visiting])).toEqual([403, 403]);
  await rule.delete();
  expect(await statuses([], [visiting])).toEqual([200, 200]);
});

it('a rule is for the records, hosts and paths that it names', async () => {
  const { id } = await fleet.addRecord('api', fleet.own);
  const rule = await FlowRule.create(fleet, 'drop', { record_ids: [id] });
  const both = () => statuses([], [{}, `http://api.${HOST.slice(4)}/`]);
  expect(await both()).toEqual([200, 403]);
  await rule.update({ record_ids: [], host_pattern: 'w*.example', host_match_type: 'wildcard' });
  expect(await both()).toEqual([403, 200]);
  await rule.update({ host_pattern: '^api\\.', host_match_type: 'regex' });
  expect(await both()).toEqual([200, 403]);
  await rule.update({
    host_pattern: '',
    host_match_type: '',
    path_match_type: 'regex',
    path_includes: ['^/adm(in)?$'],
    path_excludes: ['admin'],
  });
  const at = (path: string): [object, string] => [{}, `http://${HOST}${path}`];
  expect(await statuses(at('/adm'), at('/%61dm'), at('/admin'), at('/ADM'))).toEqual([403, 403, 200, 200]);
  await rule.update({ path_match_type: 'wildcard', path_includes: ['/a*c'], path_excludes: ['/a/b/c'] });
  expect(await statuses(at('/a/x/c'), at('/a/b/c'), at('/a/x/cd'))).toEqual([403, 200, 200]);
  await rule.delete();
  await fleet.change('DELETE', `/records/${id}`);
});

it('rate_limit: above the limit a visitor is refused until the time is over, then served again', async () => {
  const fields = { requests: 1, period_seconds: 10, key: 'header', header: 'x-user', block_seconds: 30 };
  const rule = await FlowRule.create(fleet, 'rate_limit', fields);
  const visiting = { headers: { 'x-user': 'ann' } };
  expect(await statuses([visiting], [visiting])).toEqual([200, 429]);
  expect(await statuses([{ headers: { 'x-user': 'bob' } }])).toEqual([200]);
  fleet.proxy.pass(31);
  expect(await statuses([visiting], [visiting])).toEqual([200, 429]);
  await rule.update({ action_mode: 'dry_run' });
  fleet.proxy.pass(31);
  expect(await statuses([visiting], [visiting])).toEqual([200, 200]);
  expect(fleet.proxy.seen.at(-1)?.would).toEqual([{ rule: rule.id, type: 'rate_limit', kind: 'answer' }]);
  await rule.toggle();
  expect(await statuses([visiting])).toEqual([200]);
  expect(fleet.proxy.seen.at(-1)?.would).toEqual([]);
  await rule.delete();
});

it('bot_route: robots are refused, challenged, let pass, or sent to an origin of their own', async () => {
  const visiting = { headers: { 'user-agent': 'GPTBot/1.2' } };
  const fields = { bots: 'list', list: ['gptbot'], action: 'block' };
  const rule = await showRule(fleet, 'bot_route', fields, { visiting, changed: { status: 403 } });
  await rule.update({ action: 'captcha' });
  expect((await fleet.visit(visiting)).headers['x-challenge']).toBe('js');
  await rule.update({ bots: 'unverified', list: [], action: 'block' });
  expect(await statuses([visiting], [{ ...visiting, from: VERIFIED_BOT }])).toEqual([403, 200]);
  await rule.update({ bots: 'verified' });
  expect(await statuses([visiting], [{ ...visiting, from: VERIFIED_BOT }])).toEqual([200, 403]);
  const { address: destination } = fleet.other;
  await rule.update({ bots: 'list', list: ['gptbot'], action: 'route', destination });
  expect([(await fleet.visit(visiting)).json.name, (await fleet.visit()).json.name]).toEqual([
    'other',
    'own',
  ]);
  await rule.delete();
});

it('waf: what reaches the threshold is refused; level, exclusions and the cap of the body count', async () => {
  const url = `http://${HOST}/?q=1'%20or%201=1`;
  const rule = await showRule(fleet, 'waf', {}, { url, changed: { status: 403 } });
  await rule.update({ threshold: 6 });
  expect(await statuses([{}, url])).toEqual([200]);
  expect(fleet.proxy.seen.at(-1)?.score).toBe(5);
  await rule.update({ paranoia: 4 });
  expect(await statuses([{}, url])).toEqual([403]);
  await rule.update({ paranoia: 1, threshold: 5, rule_excludes: ['942100'] });
  expect(await statuses([{}, url])).toEqual([200]);
  const post = (body: string) => ({ method: 'POST', body, headers: { 'content-type': 'text/plain' } });
  expect(await statuses([post('<script>')])).toEqual([403]);
  await rule.update({ body_cap_kb: 0 });
  expect(await statuses([post('<script>')])).toEqual([200]);
  await rule.delete();
});

it('captcha: a visitor who has solved the challenge reaches the origin for as long as that counts', async () => {
  const changed = { status: 403, headers: { 'x-challenge': 'js' } };
  const rule = await showRule(fleet, 'captcha', { mode: 'js', valid_seconds: 60 }, { changed });
  const { cookie } = await solveChallenge(fleet.proxy, PAGE, await fleet.visit());
  const visiting = { headers: { cookie } };
  expect(await statuses([visiting])).toEqual([200]);
  fleet.proxy.pass(61);
  expect(await statuses([visiting])).toEqual([403]);
  await rule.update({ mode: 'image' });
  expect((await fleet.visit()).headers['x-challenge']).toBe('image');
  await rule.delete();
});

it('redirect: the visitor is sent on, with path and query as the rule says', async () => {
  const fields = { target: 'https://new.example/x', status_code: 308, preserve_path: true };
  const location = 'https://new.example/x/page?a=1';
  const rule = await showRule(fleet, 'redirect', fields, { changed: { status: 308, headers: { location } } });
  await rule.update({ target: '/moved', preserve_path: false, preserve_query: false, status_code: 301 });
  expect(await fleet.visit()).toMatchObject({ status: 301, headers: { location: '/moved' } });
  await rule.delete();
});

it('rules act by type, then priority, then id; the API lists them so, too', async () => {
  const redirect = (target: string, priority: number) =>
    FlowRule.create(fleet, 'redirect', { target, priority });
  const late = await redirect('/late', 20);
  const first = await redirect('/first', 10);
  const second = await redirect('/second', 10);
  const drop = await FlowRule.create(fleet, 'drop', { priority: 99, path_includes: ['/dropped'] });
  expect((await fleet.visit()).headers.location).toBe('/first?a=1');
  expect(await statuses([{}, `http://${HOST}/dropped`])).toEqual([403]);
  expect(fleet.config().rules.map(({ id }) => id)).toEqual([drop.id, first.id, second.id, late.id]);
  const listed = await fleet.ask('GET', `/domains/shop.example/rules/redirect/`);
  expect(listed.body.map(({ id }: { id: number }) => id)).toEqual([first.id, second.id, late.id]);
  await fleet.change('PATCH', '/rules/redirect/reorder', [{ id: late.id, priority: 1 }]);
  expect((await fleet.visit()).headers.location).toBe('/late?a=1');
  for (const rule of [late, first, second, drop]) await rule.delete();
});
