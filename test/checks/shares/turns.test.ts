import { describe, expect, it } from 'vitest';
import { dueTurn, manualTurn } from '../../../src/checks/shares/turns.ts';

describe('turns', () => {
  it('come in this order', () => {
    const turns = [
      manualTurn({ manual: 0 }),
      dueTurn({ slotMs: 0, isFirst: true }),
      dueTurn({ slotMs: 1999, isFirst: false }),
      dueTurn({ slotMs: 2000, isFirst: true }),
      manualTurn({ manual: 5 }),
      dueTurn({ slotMs: 2000, isFirst: false }),
    ];
    expect(turns).toEqual([...turns].sort((a, b) => a - b));
    expect(new Set(turns).size).toBe(turns.length);
  });

  it('let a few checks a minute that users ask for go ahead of all others', () => {
    let manual = 0;
    const ahead = Array.from({ length: 20 }, () => {
      const turn = manualTurn({ manual });
      manual++;
      return turn;
    }).filter((turn) => turn === manualTurn({ manual: 0 }));
    expect(ahead).toHaveLength(5);
  });
});
