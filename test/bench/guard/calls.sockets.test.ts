// The SQL cost of API calls: statements and rows, which are the same on every machine. `npm run bench -- guard` compares
// the processor time.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Ask, type MeasuredCall, prepareCalls } from '../../../bench/guard/calls.ts';
import { startTestApi, type TestApi } from '../../support/api/api.ts';
import { signIn } from '../../support/api/people.ts';
import { countStatements } from '../../support/database/count-statements.ts';

const FILE = join(import.meta.dirname, '../../../fixtures/call-costs.txt');
/** Number of times that each call is made. The first ones fill caches. */
const WARM_UP = 3;
const SIZES = { small: 50, large: 500, huge: 6000, batch: 10 };

let api: TestApi;
let calls: readonly MeasuredCall[];
let askBySession: Ask;
const ask: Ask = async (method, path, body) =>
  await api.ask(method, path, { as: 'operator', ...(body !== undefined && { body }) });

beforeAll(async () => {
  api = await startTestApi();
  await sql`update plans set max_records = null, max_domains = null`.execute(api.database.db);
  calls = await prepareCalls(ask, SIZES);
  const operator = await signIn(api, 'operator');
  askBySession = async (method, path, body) => await operator.ask(method, path, body as object);
});
afterAll(() => api?.stop());

it('a call costs no more statements, round trips and rows than listed in fixtures/call-costs.txt', async () => {
  const lines: string[] = [];
  for (const call of calls) {
    await call.prepare?.(ask, 0, WARM_UP + 1);
    const make = call.bySession ? askBySession : ask;
    for (let i = 0; i < WARM_UP; i++) await make(call.method, call.path(i), call.body?.(i));
    const { value, statements, trips, rows } = await countStatements(() =>
      make(call.method, call.path(WARM_UP), call.body?.(WARM_UP)),
    );
    expect(value.status, `${call.name}: ${JSON.stringify(value.body)}`).toBeLessThan(400);
    const counts = [statements, trips, rows].map((count) => String(count).padStart(8));
    lines.push(`${call.name.padEnd(20)}${counts.join('')}`);
  }
  const listed = readFileSync(FILE, 'utf8').replaceAll(/^#.*\n/gm, '');
  expect(`${lines.join('\n')}\n`).toBe(listed);
});
