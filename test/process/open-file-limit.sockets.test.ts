import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { bundle } from '../support/processes/bundle.ts';

const PROGRAM = `import { openFileLimit } from './src/process/open-file-limit.ts';
  console.log(openFileLimit());`;

it.skipIf(process.platform !== 'linux')('returns the limit that the process was started with', () => {
  const command = `ulimit -n 333; exec "${process.execPath}" --input-type=module`;
  const { stdout } = spawnSync('sh', ['-c', command], { encoding: 'utf8', input: bundle(PROGRAM) });
  expect(stdout).toBe('333\n');
});
