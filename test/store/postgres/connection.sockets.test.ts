import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { connect } from '../../../src/store/postgres/connection.ts';
import { createDatabase, type TestDatabase } from '../../support/database/database.ts';
import { startProxy, type TcpProxy } from '../../support/processes/tcp-proxy.ts';

describe('a connection', () => {
  let database: TestDatabase;
  let proxy: TcpProxy;

  beforeEach(async () => {
    database = await createDatabase();
    proxy = await startProxy(database.url);
  });
  afterEach(async () => {
    await proxy.stop();
    await database.drop();
  });

  test('that receives nothing fails the query and closes', async () => {
    const connection = await connect(proxy.url, { applicationName: 'test' });
    expect(await connection.query('select 1, $1::bigint', [2])).toEqual([[1, 2]]);
    proxy.pause();
    await expect(connection.query('select 1', [], 300)).rejects.toThrow('Postgres was silent for 300 ms');
    await connection.ended;
    expect(connection.isOpen()).toBe(false);
    await expect(connection.query('select 1')).rejects.toThrow('closed');
  });

  test('lets the server detect that the client is disconnected', async () => {
    const connection = await connect(database.url, { applicationName: 'test' });
    // They have no effect on the unix socket of the tests, and show no value.
    expect(
      await connection.query("select name, source from pg_settings where name like 'tcp\\_%' order by name"),
    ).toEqual([
      ['tcp_keepalives_count', 'session'],
      ['tcp_keepalives_idle', 'session'],
      ['tcp_keepalives_interval', 'session'],
      ['tcp_user_timeout', 'session'],
    ]);
    await connection.close();
  });

  test('that receives rows slowly is not considered silent', async () => {
    const connection = await connect(proxy.url, { applicationName: 'test' });
    const rows: unknown[] = [];
    // Each row is larger than Postgres's output buffer, so that it is sent immediately.
    const slow = "select i, repeat('x', 20000), pg_sleep(0.1) from generate_series(1, 8) i";
    await connection.stream(slow, [], (row) => rows.push(row[0]), 500);
    expect(rows).toHaveLength(8);
    await connection.close();
  });

  test('is rejected or aborted immediately if the result is already known', async () => {
    const giveUp = new AbortController();
    proxy.pause();
    const hanging = connect(proxy.url, { applicationName: 'test', signal: giveUp.signal });
    setImmediate(() => giveUp.abort());
    await expect(hanging).rejects.toThrow();
    proxy.cut();
    await expect(connect(proxy.url, { applicationName: 'test' })).rejects.toThrow();
  });

  test('survives an invalid statement, whose caller gets the error', async () => {
    const connection = await connect(database.url, { applicationName: 'test' });
    await expect(connection.query('select nonsense')).rejects.toThrow('nonsense');
    const decode = () => {
      throw new Error('a row that cannot be read');
    };
    await expect(connection.stream('select 1', [], decode)).rejects.toThrow('cannot be read');
    expect(await connection.query('select 3')).toEqual([[3]]);
    await connection.close();
    expect(connection.isOpen()).toBe(false);
  });
});
