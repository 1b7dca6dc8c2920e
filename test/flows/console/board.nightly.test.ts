import { beforeAll, expect, it } from 'vitest';
import { JobQueue } from '../../../src/jobs/job-queue.ts';
import { backgroundChecks, CHECK_DELEGATION } from '../../../src/jobs/jobs.ts';
import { ownConsole } from '../../support/browser/console-api.ts';

const ADMIN = 'admin@shop.example';

const own = ownConsole();
let jobId: string;

beforeAll(async () => {
  await own.makePerson(ADMIN, { isAdmin: true });
  const queue = new JobQueue({ databaseUrl: own.database.url, redisUrl: undefined }, CHECK_DELEGATION);
  try {
    await queue.enqueue(backgroundChecks([4711]));
    const [job] = await queue.queue.getJobs(['prioritized']);
    jobId = String(job?.id);
  } finally {
    await queue.close();
  }
});

it.each([
  'light',
  'dark',
] as const)('opens from the operator’s queues and shows each job, in %s colours', async (colorScheme) => {
  const { page, faults } = await own.openAs(ADMIN, { colorScheme });
  await page.goto('/console/operator/queues');
  const link = page.getByRole('link', { name: 'Open the queue board' });
  expect([await link.getAttribute('href'), await link.getAttribute('target')]).toEqual([
    '/console/queues/',
    '_blank',
  ]);
  await page.goto('/console/queues/');
  await page.getByRole('link', { name: 'check-delegation' }).first().waitFor();
  await page.goto('/console/queues/queue/check-delegation?status=prioritized');
  await page.getByText('4711').first().waitFor();
  for (const tab of ['Options', 'Data']) await page.getByRole('tab', { name: tab }).first().click();
  await page.goto(`/console/queues/queue/check-delegation/${jobId}?status=prioritized`);
  await page.getByText('4711').first().waitFor();
  await page.goto('/console/queues/job-schedulers');
  await page.waitForLoadState('networkidle');
  expect(faults).toEqual([]);
});
