// Which changes make the records load again.

import { describe, expect, it } from 'vitest';
import { touchesRecords } from '../../../../console/src/screens/records/live-change.ts';

const records = { created: 0, updated: 1, deleted: 0 };

describe('a change that is heard of', () => {
  it('is looked at when it touched records, and was not made here', () => {
    expect(touchesRecords({ id: 8, records }, undefined)).toBe(true);
    expect(touchesRecords({ id: 8, records }, 7)).toBe(true);
    expect(touchesRecords({ id: 8, records }, 8)).toBe(false);
    expect(touchesRecords({ id: 7, records }, 8)).toBe(false);
    expect(touchesRecords({ id: 8, records: { created: 0, updated: 0, deleted: 0 } }, undefined)).toBe(false);
  });

  it('is looked at when it says nothing that is known', () => {
    expect(touchesRecords(undefined, 8)).toBe(true);
    expect(touchesRecords({ id: 9 }, 8)).toBe(true);
  });
});
