// A client generated from the description by openapi-typescript compiles, and works with a running API. It uses the
// packages of the console, because openapi-typescript requires an older TypeScript than the project.

import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type HttpListeners, listenHttp } from '../../src/api/http/listen.ts';
import { startTestApi, type TestApi } from '../support/api/api.ts';

const run = promisify(execFile);

let api: TestApi;
let listeners: HttpListeners;
let folder: string;
beforeAll(async () => {
  api = await startTestApi();
  listeners = await listenHttp(api.app, [{ address: '127.0.0.1', port: 0 }]);
  folder = await mkdtemp(join(tmpdir(), 'zonefleet-client-'));
});
afterAll(async () => {
  await listeners?.close(0);
  await api?.stop();
  if (folder !== undefined) await rm(folder, { recursive: true });
});

it('a client generated from the description compiles and edits records', async () => {
  await cp(join(import.meta.dirname, '../client'), folder, { recursive: true });
  const options = { cwd: folder };
  await symlink(join(import.meta.dirname, '../../console/node_modules'), join(folder, 'node_modules'));
  await writeFile(join(folder, 'openapi.yaml'), (await api.ask('GET', '/openapi.yaml', { as: null })).text);
  const program = (name: string) => join(folder, 'node_modules/.bin', name);
  // Without the flag, body members with a default would be required.
  const flags = ['openapi.yaml', '-o', 'api.d.ts', '--default-non-nullable=false'];
  await run(program('openapi-typescript'), flags, options);
  const compiled = await run(program('tsc'), ['-p', '.'], options).catch(
    (error: { stdout: string }) => error,
  );
  expect(compiled.stdout).toBe('');
  const url = `http://127.0.0.1:${listeners.addresses[0]?.port}`;
  const { stdout } = await run(process.execPath, ['edit-records.mjs', url, api.keys.owner], options);
  expect(JSON.parse(stdout)).toEqual({
    listed: [['www', '192.0.2.1', 600]],
    refused: [404, 'record not found'],
  });
});
