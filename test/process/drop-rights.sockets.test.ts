// In a process of its own, since there is no way back.

import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { bundle } from '../support/processes/bundle.ts';

const isRoot = process.getuid?.() === 0;

function run(user: object | undefined, then: string): { stdout: string; stderr: string } {
  const program = `
    import { Worker } from 'node:worker_threads';
    import { readdirSync, readFileSync } from 'node:fs';
    import { dropRights } from './src/process/drop-rights.ts';
    const before = new Worker('require("node:worker_threads").parentPort.on("message", () => {})', { eval: true });
    await new Promise((done) => before.once('online', done));
    dropRights(${JSON.stringify(user)}, { warn: (_, text) => console.log('warned', text), debug() {} });
    ${then}
    process.exit(0);`;
  return spawnSync(process.execPath, ['--input-type=module'], { encoding: 'utf8', input: bundle(program) });
}

it.skipIf(!isRoot)(
  `no thread is root’s afterwards, nor can be again, nor may other processes look in${isRoot ? '' : ' (skipped: needs root)'}`,
  () => {
    const { stdout, stderr } = run(
      { uid: 61_001, gid: 61_002 },
      // A thread may end after it was listed.
      `const statusOf = (task) => { try { return [readFileSync('/proc/self/task/' + task + '/status', 'utf8')]; } catch { return []; } };
     const ids = new Set(readdirSync('/proc/self/task').flatMap(statusOf).map((status) =>
       status.match(/^(Uid|Gid|Groups|CapEff|CapPrm):.*$/gm).join(' ')));
     console.log([...ids].join('|').replaceAll(/\\s+/g, ' '));
     for (const id of ['setuid', 'setgid']) try { process[id](0); console.log('back'); } catch (error) { console.log(error.code); }
     try { readFileSync('/proc/self/environ'); console.log('seen'); } catch (error) { console.log(error.code); }
     console.log(process.cwd());`,
    );
    expect(stderr).toBe('');
    expect(stdout.trim().split('\n')).toEqual([
      'Uid: 61001 61001 61001 61001 Gid: 61002 61002 61002 61002 Groups: CapPrm: 0000000000000000 CapEff: 0000000000000000',
      'EPERM',
      'EPERM',
      'EACCES',
      '/',
    ]);
  },
);

it.skipIf(!isRoot)(`root that stays is warned of, once${isRoot ? '' : ' (skipped: needs root)'}`, () => {
  const { stdout } = run(undefined, 'console.log(process.getuid())');
  expect(stdout).toMatch(/^warned RUN_AS is off: .*\n0\n$/);
});
