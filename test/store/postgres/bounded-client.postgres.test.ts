import type { EventEmitter } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BoundedClient } from '../../../src/store/postgres/bounded-client.ts';
import { keptDatabase } from '../../support/tests/shared-database.ts';

const { url, query } = keptDatabase();

let client: BoundedClient;
let described: number;

beforeEach(async () => {
  client = new BoundedClient({ connectionString: url });
  await client.connect();
  described = 0;
  (client as unknown as { connection: EventEmitter }).connection.on('rowDescription', () => described++);
});
afterEach(() => client.end());

async function ask(text: string, ...values: readonly unknown[]): Promise<unknown[]> {
  return (await client.query(text, values)).rows;
}

async function prepare(text: string, ...values: readonly unknown[]): Promise<void> {
  for (let i = 0; i < 10; i++) await ask(text, ...values);
  described = 0;
}

describe('the columns of a prepared statement', () => {
  const NUMBERS = 'select $1::integer as a, $2::text as b from generate_series(1, $3)';

  it('are described once per connection', async () => {
    await prepare(NUMBERS, 1, 'x', 2);
    expect(await ask(NUMBERS, 2, 'y', 2)).toEqual(Array(2).fill({ a: 2, b: 'y' }));
    expect(await ask(NUMBERS, 2, null, 0)).toEqual([]);
    expect(await ask(NUMBERS, 3, null, 1)).toEqual([{ a: 3, b: null }]);
    expect(described).toBe(0);
  });

  it('are known if the first results had no rows', async () => {
    await prepare(NUMBERS, 1, 'x', 0);
    expect(await ask(NUMBERS, 2, 'y', 1)).toEqual([{ a: 2, b: 'y' }]);
    expect(described).toBe(0);
  });

  it('belong to the right statement of a group, also after a statement of the group failed', async () => {
    const together = async (divisor: number): Promise<unknown[]> => {
      const results: unknown[] = [];
      const sent = ['select $1::integer as a', 'select 12 / $1::integer as b', 'select $1::integer as a'];
      for (const text of sent)
        client.queryWithNext({ text, values: [divisor], onResult: ({ rows }) => results.push(...rows) });
      return [...(await ask('select $1::bigint as c', divisor)), ...results];
    };
    for (let i = 0; i < 13; i++) {
      described = 0;
      if ([1, 7, 8, 10].includes(i)) await expect(together(0)).rejects.toThrow('division by zero');
      else expect(await together(6)).toEqual([{ c: '6' }, { a: 6 }, { b: 2 }, { a: 6 }]);
    }
    expect(described).toBe(0);
  });

  it.each([
    ['fails', 0, 'division by zero'],
    ['is cancelled', 'sleep', 'canceling statement due to statement timeout'],
    ['has values that cannot be encoded', { toPostgres: () => JSON.parse('{') }, 'JSON'],
  ])('are correct after the statement %s', async (_, value, message) => {
    const text = `select 12 / case $1::text when 'sleep' then length(pg_sleep(10)::text) else $1::text::integer end as a,
      $2::integer as b`;
    await client.query("set statement_timeout = '100ms'");
    for (let i = 0; i < 12; i++) {
      const failing = [5, 8].includes(i);
      if (failing) await expect(ask(text, value, 1)).rejects.toThrow(message);
      else expect(await ask(text, '3', i)).toEqual([{ a: 4, b: i }]);
    }
  });

  it('are those of the changed table after one error', async () => {
    await query`create table shapes (a integer); insert into shapes values (1)`;
    await prepare('select * from shapes');
    await query`alter table shapes add b text default 'x'`;
    await expect(ask('select * from shapes')).rejects.toThrow('cached plan must not change result type');
    for (let i = 0; i < 9; i++) expect(await ask('select * from shapes')).toEqual([{ a: 1, b: 'x' }]);
    await query`drop table shapes`;
  });

  it('are described again after the connection was reset', async () => {
    await prepare(NUMBERS, 1, 'x', 1);
    await client.query('discard all');
    await expect(ask(NUMBERS, 1, 'x', 1)).rejects.toThrow('does not exist');
    expect(await ask(NUMBERS, 2, 'y', 1)).toEqual([{ a: 2, b: 'y' }]);
    expect(described).toBe(1);
  });
});
