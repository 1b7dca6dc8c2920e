// .ci/audit with a registry that knows advisories, and with one that has none.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';

const AUDIT = resolve(import.meta.dirname, '../../.ci/audit');
const ADVISORY = { id: 1, url: 'https://example.net/1', title: 'a hole', vulnerable_versions: '*' };

/** `advisories` is the response to all packages. Undefined: the registry does not have the service. */
async function audit(advisories: object | undefined): Promise<{ code: number; output: string }> {
  const registry = createServer((request, response) => {
    request.resume();
    const knows = advisories !== undefined && request.url?.endsWith('/advisories/bulk');
    response.writeHead(knows ? 200 : 405, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify(knows ? advisories : {}));
  }).listen(0, '127.0.0.1');
  const home = mkdtempSync(join(tmpdir(), 'zf-audit-'));
  try {
    await once(registry, 'listening');
    const { port } = registry.address() as AddressInfo;
    const child = spawn(AUDIT, [], {
      env: {
        PATH: process.env.PATH,
        HOME: home,
        npm_config_registry: `http://127.0.0.1:${port}/`,
        npm_config_cache: join(home, 'npm'),
        npm_config_fetch_retries: '0',
        npm_config_update_notifier: 'false',
      },
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    const [code] = await once(child, 'close');
    return { code, output };
  } finally {
    registry.close();
    rmSync(home, { recursive: true, force: true });
  }
}

it('fails if a package has a vulnerability of high severity, and accepts lower ones', async () => {
  const { code, output } = await audit({
    fastify: [{ ...ADVISORY, severity: 'high' }],
    preact: [{ ...ADVISORY, severity: 'moderate' }],
  });
  expect([code, output]).toEqual([1, expect.stringMatching(/^fastify .*\n(.*\n)*.*a hole/m)]);
  expect(output).toContain('console: no known vulnerability of high severity');
});

it('succeeds and reports it if the registry has no advisories', async () => {
  const { code, output } = await audit(undefined);
  expect(code).toBe(0);
  expect(output.match(/not audited, because the registry has no advisories: .*405/g)).toHaveLength(3);
});
