// The statements that reach the embedded engine cannot access anything outside of it.

import { describe, expect, it } from 'vitest';
import { MIGRATIONS } from '../../../src/analytics/migrations/every-migration.ts';
import { bindValues } from '../../../src/start/analytics/bind-values.ts';
import { judgeSettings } from '../../../src/start/analytics/judge-settings.ts';
import { judgeStatement } from '../../../src/start/analytics/judge-statement.ts';

const SOURCES = new Set(['file', 'url', 's3', 'executable', 'remote', 'mysql', 'numbers', 'view', 'input']);
const judge = (text: string) => judgeStatement(text, SOURCES);

describe('the filter allows', () => {
  it.each(
    MIGRATIONS.flatMap(({ statements }) => statements),
  )('the creation of our tables: %s', (statement) => {
    expect(judge(statement).kind).toBe('write');
  });

  it.each([
    ['SELECT 1', 'select'],
    ['WITH 1 AS a SELECT a FROM numbers(3) FORMAT JSONEachRow', 'select'],
    ["SELECT 'file(1); -- INTO OUTFILE' AS a", 'select'],
    ['INSERT INTO requests FORMAT JSONEachRow', 'rows'],
    ['INSERT INTO requests (at, host) FORMAT JSONEachRow', 'rows'],
    ['INSERT INTO requests SELECT * FROM numbers(3)', 'write'],
  ])('%s', (text, kind) => {
    expect(judge(text).kind).toBe(kind);
  });
});

describe('the filter rejects', () => {
  it.each([
    "SELECT * FROM file('/etc/passwd')",
    "SELECT * FROM FILE ('/etc/passwd')",
    "SELECT file/* */('/etc/passwd')",
    "SELECT file --\n('/etc/passwd')",
    "SELECT * FROM url('http://127.0.0.1/')",
    "SELECT * FROM s3('x')",
    "SELECT * FROM executable('x', 'CSV', 'a Int8')",
    "SELECT 1 INTO OUTFILE '/tmp/x'",
    'SELECT * FROM default.x',
    'SELECT * FROM `x`',
    'SELECT * FROM "x"',
    'SELECT $a$ x $a$',
    'SELECT file\u00a0(1)',
    'SELECT 1; SELECT 2',
    'SELECT 1 SETTINGS readonly = 0',
    'SELECT 1 FORMAT CSV',
    "INSERT INTO FUNCTION file('/tmp/x') SELECT 1",
    "INSERT INTO requests FROM INFILE '/tmp/x' FORMAT CSV",
    "INSERT INTO requests SELECT * FROM url('x')",
    "CREATE TABLE x (a Int8) ENGINE = URL('http://127.0.0.1/')",
    "CREATE TABLE x (a Int8) ENGINE File('CSV')",
    "CREATE TABLE x (a Int8) ENGINE = MergeTree ORDER BY a SETTINGS disk = 'x'",
    'CREATE TABLE x (a Int8) ENGINE = MergeTree ORDER BY a SETTINGS storage_policy = 1',
    "CREATE TABLE x AS file('/etc/passwd')",
    'CREATE DICTIONARY x (a Int8)',
    "CREATE FUNCTION x AS (a) -> file('x')",
    'CREATE USER x',
    'ALTER TABLE x FREEZE',
    "ALTER TABLE x MOVE PART 'a' TO DISK 'b'",
    "ATTACH TABLE x FROM '/tmp' (a Int8) ENGINE = MergeTree",
    "BACKUP TABLE x TO File('x')",
    'SYSTEM SHUTDOWN',
    'SET readonly = 0',
    'SHOW TABLES',
    'DESCRIBE TABLE x',
    '',
  ])('%s', (text) => {
    expect(() => judge(text)).toThrow(/DB::Exception/);
  });

  it('the result of inserting a value into a statement', () => {
    const bind = (text: string, value: string) => judge(bindValues(text, new Map([['a', value]])));
    expect(() => bind('SELECT * FROM {a:Identifier}', 'x; DROP TABLE y')).toThrow(/identifier/);
    expect(() => bind('SELECT * FROM {a:Identifier}(1)', 'file')).toThrow(/file/);
    expect(bind('SELECT {a:String}', "\\') FROM file(\\'x").before).toContain(
      "_CAST('\\') FROM file(\\'x', 'String')",
    );
    expect(() => bind('SELECT {b:String}', 'x')).toThrow(/not set/);
    // The type is also a text of the cast.
    expect(bind("SELECT {a:String') FROM url('x}", 'x').before).toContain(
      "_CAST('x', 'String\\') FROM url(\\'x')",
    );
    expect(() => bind('SELECT {a:String\\}', 'x')).toThrow(/name:Type/);
  });

  it('settings that are not in its list, and values that are not plain', () => {
    const of = (name: string, value: string) => judgeSettings([[name, value]], true);
    expect(of('max_execution_time', '5')).toBe('SETTINGS readonly = 1, max_execution_time = 5');
    expect(judgeSettings([['insert_deduplication_token', "a'b\\"]], false)).toContain("= 'a\\'b\\\\'");
    for (const [name, value] of [
      ['readonly', '0'],
      ['format_schema', 'x'],
      ['max_threads', '1, readonly = 0'],
      ['max_execution_time', '0'],
      ['max_execution_time', '999999'],
      ['session_id', 'x'],
      ['result_overflow_mode', "x'"],
    ] as const)
      expect(() => of(name, value), name).toThrow(/DB::Exception/);
  });
});
