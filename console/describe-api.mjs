// Makes the types of the API's client from the description that the sources of the API give: src/api/schema.d.ts and
// admin-schema.d.ts. They are made, not kept.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import openapi, { astToString } from 'openapi-typescript';

const root = new URL('..', import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), 'zonefleet-description-'));
try {
  execFileSync(process.execPath, ['src/start/run.mjs', 'src/api/print-description.ts', folder], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  for (const [from, to] of [
    ['openapi.json', 'schema.d.ts'],
    ['admin-openapi.json', 'admin-schema.d.ts'],
  ]) {
    const types = astToString(await openapi(JSON.parse(readFileSync(join(folder, from), 'utf8'))));
    writeFileSync(new URL(`src/api/${to}`, import.meta.url), types);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
