import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { explainLimit } from '../../src/process/explain-limit.ts';

it('a limit that is reached is said in one line that names it', () => {
  const fault = (code: string) => explainLimit(Object.assign(new Error('x'), { code }));
  expect(fault('EMFILE')).toContain('ulimit -n');
  expect(fault('ENOMEM')).toContain('IMAGE_BYTES');
  expect(fault('ERR_WORKER_OUT_OF_MEMORY')).toContain('max-old-space-size');
  expect(explainLimit(new RangeError('Array buffer allocation failed'))).toContain('IMAGE_BYTES');
});

it('whatever else goes wrong is none', () => {
  for (const error of [
    new Error('x'),
    Object.assign(new Error('x'), { code: 'EIO' }),
    null,
    undefined,
    'x',
  ]) {
    expect(explainLimit(error)).toBeUndefined();
  }
});

it('a process whose start meets a limit says that line and no stack', () => {
  const module_ = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);
  const program = `
    const { runProcess } = await import(${module_('../../src/process/run-process.ts')});
    runProcess(async () => { throw Object.assign(new Error('open'), { code: 'EMFILE' }); });`;
  const words = ['--import', 'tsx', '--input-type=module', '-e', program];
  const { stderr, status } = spawnSync(process.execPath, words, {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    encoding: 'utf8',
  });
  expect(status).toBe(1);
  expect(stderr.trim().split('\n')).toEqual([expect.stringContaining('ulimit -n')]);
});
