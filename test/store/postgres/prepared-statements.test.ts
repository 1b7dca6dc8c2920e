import { beforeEach, describe, expect, test } from 'vitest';
import { PreparedStatements } from '../../../src/store/postgres/prepared-statements.ts';

describe('a statement', () => {
  let statements: PreparedStatements;

  beforeEach(() => {
    statements = new PreparedStatements();
  });

  const repeat = (text: string, values: readonly unknown[] = [1], times = 8): string | undefined => {
    let name: string | undefined;
    for (let i = 0; i < times; i++) name = statements.nameOf(text, values);
    return name;
  };

  test('that is repeated gets a permanent name', () => {
    expect(repeat('select $1::integer', [1], 7)).toBeUndefined();
    const name = statements.nameOf('select $1::integer', [1]);
    expect(name).toMatch(/^zonefleet_[0-9a-f]{16}$/);
    expect(statements.nameOf('select $1::integer', [2])).toBe(name);
    expect(repeat('select $1::text')).not.toBe(name);
  });

  test('has the same name in each process, because they may share connections behind a pooler', () => {
    const name = repeat('select $1::text');
    statements = new PreparedStatements();
    repeat('select $1::integer');
    expect(repeat('select $1::text')).toBe(name);
  });

  test('with a large array is planned for it, even if it has a name for small ones', () => {
    const items = Array.from({ length: 65 }, (_, i) => i);
    expect(repeat('select from unnest($1::integer[])', [items], 50)).toBeUndefined();
    expect(repeat('select from unnest($1::integer[])', [items.slice(1)])).toBeDefined();
    expect(statements.nameOf('select from unnest($1::integer[])', [items])).toBeUndefined();
  });

  test('beyond a hundred is neither prepared nor remembered, because every connection keeps every plan', () => {
    const names = Array.from({ length: 150 }, (_, i) => repeat(`select ${i} + $1`));
    expect(names.filter((name) => name !== undefined)).toHaveLength(100);
    for (let i = 0; i < 2000; i++) statements.nameOf(`select ${i}`, []);
    expect(repeat('select 1999')).toBeUndefined();
  });

  test.each([
    ['is unknown to the server', { code: '26000', message: 'prepared statement does not exist' }],
    ['already exists', { code: '42P05', message: 'prepared statement already exists' }],
    ['has a useless plan', { code: '0A000', message: 'cached plan must not change result type' }],
  ])('that %s ends all preparing', (_, error) => {
    expect(repeat('select $1')).toBeDefined();
    statements.noteFailure(error);
    expect(repeat('select $1')).toBeUndefined();
  });

  test('that fails for another reason keeps its name', () => {
    const name = repeat('select $1');
    statements.noteFailure({ code: '23505', message: 'duplicate key' });
    statements.noteFailure({ code: '0A000', message: 'something else is not supported' });
    statements.noteFailure(new Error('Connection terminated'));
    expect(statements.nameOf('select $1', [1])).toBe(name);
  });
});
