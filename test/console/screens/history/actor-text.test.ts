import { describe, expect, it } from 'vitest';
import { actorText } from '../../../../console/src/screens/history/actor-text.ts';

const nameOf = (account: number) => ({ 2: 'Ann', 3: 'bob@example.org' })[account];

describe('who made a change', () => {
  it.each([
    [{ kind: 'session', user_id: 1 }, 'You'],
    [{ kind: 'session', user_id: 2 }, 'Ann'],
    [{ kind: 'session', user_id: 3 }, 'bob@example.org'],
    [{ kind: 'session', user_id: 4 }, 'Account 4'],
    [{ kind: 'session' }, 'Somebody with access'],
    [{ kind: 'key', user_id: 2, key_id: 7 }, expect.stringContaining('Ann')],
  ] as const)('%j', (actor, text) => {
    expect(actorText(actor, 1, nameOf)).toEqual(text);
  });
});
