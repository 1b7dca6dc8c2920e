import { beforeAll, expect, it } from 'vitest';
import { ownConsole } from '../../support/browser/console-api.ts';
import { countTransfer, heldBy } from '../../support/browser/page-figures.ts';
import { walkScreens } from '../../support/browser/walk-screens.ts';
import { newDomain } from '../../support/database/domains.ts';
import { until } from '../../support/tests/until.ts';

const KIB = 1024;
const NAME = 'ann-0.example';
/** More than the list shows at a time. */
const DOMAINS = 30;
const ANN = 'ann@shop.example';
const ROW = '.rec-row[data-key]';

const own = ownConsole(() => ({ API_RATE: 'off' })); // the walk exceeds the rate of a user

beforeAll(async () => {
  const ann = await own.makePerson(ANN, { isAdmin: true });
  for (let i = 0; i < DOMAINS; i++) await newDomain(own.database.db, ann, `ann-${i}.example.`);
});

it('the first load including the list of domains has at most 120 KiB', async () => {
  const { page, context } = await own.openAs(ANN, { mayFail: true });
  const transfer = await countTransfer(await context.newCDPSession(page));
  await page.goto('/console/');
  await page.getByRole('link', { name: NAME, exact: true }).waitFor();
  await page.waitForLoadState('networkidle');
  const { bytes, bytesByKind } = transfer();
  expect(bytes).toBeLessThanOrEqual(120 * KIB);
  const files = (bytesByKind.get('Script') ?? 0) + (bytesByKind.get('Stylesheet') ?? 0);
  expect(files).toBeGreaterThan(30 * KIB); // proves that files were counted
  expect(files).toBeLessThanOrEqual(80 * KIB);
});

it('of ten thousand records, only the visible ones are drawn', async () => {
  const { page, context } = await own.openAs(ANN, { mayFail: true });
  await page.route(`**/domains/${NAME}/records/`, (route) => route.fulfill({ json: manyRecords(10_000) }));
  await page.goto(`/console/domains/${NAME}/records`);
  await page.locator(ROW).first().waitFor();
  const session = await context.newCDPSession(page);
  for (const share of [0, 0.3, 0.9, 0.5, 1, 0]) {
    await page.evaluate(`scrollTo(0, ${share} * document.documentElement.scrollHeight)`);
    await until(() => page.evaluate<boolean>(IS_FULL), `all rows in sight are drawn at ${share}`);
    expect(await page.locator(ROW).count()).toBeLessThan(80);
  }
  expect((await heldBy(session)).nodes).toBeLessThan(8000);
});

it('many screens leave no nodes, listeners or documents behind', async () => {
  const { page, context } = await own.openAs(ANN, { mayFail: true });
  const session = await context.newCDPSession(page);
  await page.goto('/console/domains');
  const held = async () => {
    await page.getByRole('link', { name: NAME, exact: true }).waitFor();
    await page.waitForLoadState('networkidle');
    const { nodes, documents, listeners } = await heldBy(session);
    return { nodes, documents, listeners };
  };
  // After two walks, everything that is kept once per screen exists.
  for (let i = 0; i < 2; i++) await walkScreens(page, NAME);
  const before = await held();
  let changes = 0;
  while (changes < 60) changes += await walkScreens(page, NAME);
  // Less than one object per change.
  const most = { nodes: changes / 2, listeners: changes / 4, documents: 0 };
  const kinds = ['nodes', 'listeners', 'documents'] as const;
  let grown: Record<string, number> = {};
  const isSmall = async () => {
    const after = await held();
    grown = Object.fromEntries(kinds.map((kind) => [kind, after[kind] - before[kind]]));
    return kinds.every((kind) => after[kind] - before[kind] <= most[kind]);
  };
  // The browser itself may keep the previous screen for a while. Leaks remain.
  await until(isSmall, () => `little is left behind: ${JSON.stringify(grown)}`, 30_000);
});

/** Every position in the window has a row. The rows are consecutive, except for the focused one at the start. */
const IS_FULL = `(() => {
  const body = document.querySelector('.rec-body').getBoundingClientRect();
  const [from, to] = [Math.max(0, body.top), Math.min(innerHeight, body.bottom)];
  const boxes = [...document.querySelectorAll('${ROW}')].map((row) => row.getBoundingClientRect())
    .filter(({ top, bottom }) => bottom > from && top < to).sort((a, b) => a.top - b.top);
  return boxes.length > 0 && boxes[0].top <= from + 1 && boxes.at(-1).bottom >= to - 1 &&
    boxes.every((box, i) => i === 0 || box.top - boxes[i - 1].bottom < 2);
})()`;

function manyRecords(count: number) {
  return Array.from({ length: count }, (_, i) => ({
    id: i + 1,
    name: `host-${String(i).padStart(5, '0')}`,
    type: 'A',
    destination: `198.51.100.${i % 256}`,
    proxied: false,
    editable: true,
  }));
}
