// Who has the name of a node: one process, by a session of its own.

import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { claimNodeName } from '../../../src/store/feed/nodes.ts';
import { type Connection, connect } from '../../../src/store/postgres/connection.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { until } from '../../support/tests/until.ts';

const database = sharedDatabase();
let connections: Connection[];

beforeEach(async () => {
  connections = [];
});
afterEach(async () => {
  await Promise.all(connections.map((connection) => connection.close()));
});

async function open(parameters = ''): Promise<Connection> {
  const connection = await connect(`${database.url}${parameters}`, { applicationName: 'test' });
  connections.push(connection);
  return connection;
}

test('the name of a node is one process’s; another process waits for the end of its session', async () => {
  const [one, other] = [
    { name: 'ams1', instance: randomUUID() },
    { name: 'ams1', instance: randomUUID() },
  ];
  const [first, second] = [await open(), await open()];
  expect(await claimNodeName(first, one)).toBe('claimed');
  for (let i = 0; i < 3; i++) expect(await claimNodeName(second, other)).toBe('taken');
  expect(first.isOpen()).toBe(true);
  expect(await claimNodeName(second, { ...other, name: 'fra1' })).toBe('claimed');
  await first.close();
  expect(await claimNodeName(second, other)).toBe('claimed');
});

test('a session that a process had before is ended, and no other one of it', async () => {
  const node = { name: 'ams1', instance: randomUUID() };
  const [first, elsewhere, second] = [await open(), await open(), await open()];
  expect(await claimNodeName(first, node)).toBe('claimed');
  expect(await claimNodeName(elsewhere, { ...node, name: 'fra1' })).toBe('claimed');
  expect(await claimNodeName(second, node)).toBe('ending');
  await until(async () => (await claimNodeName(second, node)) === 'claimed', 'the name is free');
  await first.ended;
  expect(elsewhere.isOpen()).toBe(true);
});

test('an application_name in the database URL does not make two processes the same', async () => {
  const parameters = `${database.url.includes('?') ? '&' : '?'}application_name=nodes`;
  const [first, second] = [await open(parameters), await open(parameters)];
  expect(await claimNodeName(first, { name: 'ams1', instance: randomUUID() })).toBe('claimed');
  expect(await claimNodeName(second, { name: 'ams1', instance: randomUUID() })).toBe('taken');
  expect(first.isOpen()).toBe(true);
});
