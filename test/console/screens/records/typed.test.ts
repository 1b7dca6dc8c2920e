// Records as they are typed, and back.

import { describe, expect, it } from 'vitest';
import { fieldsThatDiffer, fieldValue, typedOf } from '../../../../console/src/screens/records/typed.ts';

describe('a typed record', () => {
  it('has a text for every number, and what is not said as the API has it by default', () => {
    const typed = typedOf({ name: '@', type: 'MX', destination: 'mx.example.net', mx_priority: 0, ttl: 60 });
    expect(typed).toMatchObject({ mx_priority: '0', ttl: '60', port: '443', timeout: '15', comment: '' });
  });

  it('differs by fields', () => {
    const typed = typedOf({ name: 'a', type: 'A', destination: '192.0.2.1' });
    expect(fieldsThatDiffer(typed, { ...typed, ttl: '60', proxied: true })).toEqual(['ttl', 'proxied']);
  });

  it('is said as the API takes it', () => {
    const typed = typedOf({ name: '', type: 'TXT', destination: ' two  spaces ' });
    expect(fieldValue(typed, 'name')).toBe('@');
    expect(fieldValue(typed, 'ttl')).toBeUndefined();
    expect(fieldValue(typed, 'destination')).toBe(' two  spaces ');
    expect(fieldValue({ ...typed, type: 'A', destination: ' 192.0.2.1 ' }, 'destination')).toBe('192.0.2.1');
    expect(fieldValue({ ...typed, ttl: ' 60 ' }, 'ttl')).toBe(60);
    expect(fieldValue({ ...typed, ttl: '1h' }, 'ttl')).toBe('1h');
    expect(fieldValue({ ...typed, mx_priority: '5' }, 'mx_priority')).toBeUndefined();
  });
});
