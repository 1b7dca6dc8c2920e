import { expect, it } from 'vitest';
import { explainLimit } from '../../src/process/explain-limit.ts';

it('names the setting of the limit that was reached', () => {
  const fault = (code: string) => explainLimit(Object.assign(new Error('x'), { code }));
  expect(fault('EMFILE')).toContain('ulimit -n');
  expect(fault('ENOMEM')).toContain('IMAGE_BYTES');
  expect(fault('ERR_WORKER_OUT_OF_MEMORY')).toContain('max-old-space-size');
  expect(explainLimit(new RangeError('Array buffer allocation failed'))).toContain('IMAGE_BYTES');
});

it('returns undefined for any other error', () => {
  const eio = Object.assign(new Error('x'), { code: 'EIO' });
  for (const error of [new Error('x'), eio, null, undefined, 'x']) {
    expect(explainLimit(error)).toBeUndefined();
  }
});
