import { describe, expect, it } from 'vitest';
import { readStep } from '../../../src/store/migrate/read-step.ts';

const useOf = (sql: string) => readStep(sql).uses;

describe('readStep', () => {
  it('returns the comment at the start, the new tables, and the tables that existed before', () => {
    expect(
      readStep(`-- Notes of owners,
-- for their domains.

-- One note.
create table notes (id bigint references domains, kind text default 'a; b');
create index notes_kind on notes (kind);
create unique index notes_id on notes (id) where kind = 'x';
create function raise_it() returns trigger language plpgsql as $$ begin drop table zones; end $$;
create trigger notes_raise after insert on accounts for each row execute function raise_it();`),
    ).toEqual({
      about: 'Notes of owners, for their domains.',
      creates: ['notes'],
      uses: [
        { table: 'domains', lock: 'writes', work: 'none' },
        { table: 'accounts', lock: 'writes', work: 'none' },
      ],
      faults: [],
      contracts: undefined,
    });
  });

  it.each([
    ['alter table zones add column note text', 'all', 'none'],
    ["alter table zones add column note text not null default ''", 'all', 'none'],
    ['alter table zones add column at timestamptz not null default clock_timestamp()', 'all', 'rewrite'],
    ['alter table zones add column size integer check (size > 0)', 'all', 'scan'],
    ['alter table zones drop constraint a, add constraint a check (x) not valid', 'all', 'none'],
    ['alter table zones validate constraint a', 'none', 'scan'],
    ['create index zones_size on zones (size)', 'writes', 'index'],
    ['update zones set size = 1', 'none', 'rewrite'],
    ['lock table zones in access exclusive mode', 'all', 'none'],
  ])('%s: lock %s, work %s', (sql, lock, work) => {
    expect(useOf(sql)).toEqual([{ table: 'zones', lock, work }]);
    expect(readStep(sql).faults).toEqual([]);
  });

  it('merges several statements about one table into the heaviest use', () => {
    expect(useOf('create index a on zones (a); alter table zones add column b text')).toEqual([
      { table: 'zones', lock: 'all', work: 'index' },
    ]);
  });

  it.each([
    'alter table zones drop column note',
    'alter table zones rename column note to text',
    'alter table zones alter column note type text',
    'alter table zones alter column note set not null',
    'alter table zones add column note text not null',
    'alter table zones add constraint a check (x)',
    'alter table zones add column a text, drop column b',
    'create unique index a on zones (a)',
    'drop table zones',
    'drop function f',
    'drop view v',
    'alter function f() rename to g',
    'truncate zones',
  ])('reports a fault: %s', (sql) => {
    expect(readStep(sql).faults).toEqual([expect.stringContaining(sql)]);
  });

  it('accepts the same on a table that the step creates', () => {
    expect(readStep('create table a (b text); alter table a alter column b set not null').faults).toEqual([]);
  });

  it('returns the version of a contraction', () => {
    expect(readStep('-- Removes notes.\n-- contract: unused since 1.1.0\ndrop table notes')).toMatchObject({
      about: 'Removes notes.',
      contracts: '1.1.0',
    });
  });
});
