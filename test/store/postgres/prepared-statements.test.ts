// Which statements get a name, and when a process stops naming them.

import { beforeEach, describe, expect, test, vi } from 'vitest';

describe('a statement', () => {
  let module: typeof import('../../../src/store/postgres/prepared-statements.ts');

  beforeEach(async () => {
    vi.resetModules(); // the counts are the process's
    module = await import('../../../src/store/postgres/prepared-statements.ts');
  });

  const repeat = (text: string, values: readonly unknown[] = [1], times = 8): string | undefined => {
    let name: string | undefined;
    for (let i = 0; i < times; i++) name = module.preparedName(text, values);
    return name;
  };

  test('that is repeated gets a name of its own, which stays', () => {
    expect(repeat('select $1::integer', [1], 7)).toBeUndefined();
    const name = module.preparedName('select $1::integer', [1]);
    expect(name).toMatch(/^zonefleet_\d+$/);
    expect(module.preparedName('select $1::integer', [2])).toBe(name);
    expect(repeat('select $1::text')).not.toBe(name);
  });

  test('with a large array is planned for it, also when it has a name for small ones', () => {
    const items = Array.from({ length: 65 }, (_, i) => i);
    expect(repeat('select from unnest($1::integer[])', [items], 50)).toBeUndefined();
    expect(repeat('select from unnest($1::integer[])', [items.slice(1)])).toBeDefined();
    expect(module.preparedName('select from unnest($1::integer[])', [items])).toBeUndefined();
  });

  test('beyond a hundred is sent as it is: each connection keeps every plan', () => {
    const names = Array.from({ length: 150 }, (_, i) => repeat(`select ${i} + $1`));
    expect(names.filter((name) => name !== undefined)).toHaveLength(100);
  });

  test('is not remembered among thousands of others', () => {
    for (let i = 0; i < 2000; i++) module.preparedName(`select ${i}`, []);
    expect(repeat('select 1999')).toBeUndefined();
  });

  test.each([
    ['is unknown to the server', { code: '26000', message: 'prepared statement does not exist' }],
    ['is already there', { code: '42P05', message: 'prepared statement already exists' }],
    ['has a useless plan', { code: '0A000', message: 'cached plan must not change result type' }],
  ])('that %s is the last one with a name', (_, error) => {
    expect(repeat('select $1')).toBeDefined();
    module.notePreparedFailure(error);
    expect(repeat('select $1')).toBeUndefined();
  });

  test('that fails for another reason keeps its name', () => {
    const name = repeat('select $1');
    module.notePreparedFailure({ code: '23505', message: 'duplicate key' });
    module.notePreparedFailure({ code: '0A000', message: 'something else is not supported' });
    module.notePreparedFailure(new Error('Connection terminated'));
    expect(module.preparedName('select $1', [1])).toBe(name);
  });
});
