import { beforeEach, expect, it } from 'vitest';
import { Problem } from '../../../src/api/answers/problem.ts';
import { Attempts } from '../../../src/api/people/attempts.ts';
import { keptDatabase } from '../../support/tests/shared-database.ts';

const ADDRESS = '192.0.2.7';
const { db, query } = keptDatabase();
beforeEach(() => query`truncate sign_in_failures`);

async function fail(count: number, begin: () => ReturnType<Attempts['forProvider']>): Promise<void> {
  for (let i = 0; i < count; i++) {
    const attempt = await begin();
    if (attempt instanceof Problem) throw new Error(`attempt ${i} is blocked`);
    await attempt.run(async () => false);
  }
}

it('refused codes of the identity provider block its codes for at most a minute, and no passwords', async () => {
  const attempts = new Attempts(db);
  const withCode = () => attempts.forProvider(ADDRESS);
  await fail(30, withCode);
  const blocked = await withCode();
  if (!(blocked instanceof Problem)) throw new Error('not blocked');
  expect(blocked.status).toBe(429);
  const seconds = Number(blocked.headers['Retry-After']);
  expect(seconds > 0 && seconds <= 60).toBe(true);
  expect(await attempts.forProvider('198.51.100.7')).not.toBeInstanceOf(Problem);
  await fail(10, () => attempts.forEmail(ADDRESS, 'ann@shop.example', undefined));
});

it('wrong passwords do not block codes of the identity provider', async () => {
  const attempts = new Attempts(db);
  const withPassword = () => attempts.forEmail(ADDRESS, 'ann@shop.example', undefined);
  await fail(10, withPassword);
  expect(await withPassword()).toBeInstanceOf(Problem);
  expect(await attempts.forProvider(ADDRESS)).not.toBeInstanceOf(Problem);
});
