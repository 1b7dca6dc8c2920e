import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

const SCRIPT =
  "import { openFileLimit } from './src/process/open-file-limit.ts'; console.log(openFileLimit());";

it.skipIf(process.platform !== 'linux')('is what the process was given', () => {
  const node = `"${process.execPath}" --import tsx --input-type=module -e "${SCRIPT}"`;
  const { stdout } = spawnSync('sh', ['-c', `ulimit -n 333; exec ${node}`], { encoding: 'utf8' });
  expect(stdout).toBe('333\n');
});
