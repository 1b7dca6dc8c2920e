import { describe, expect, it } from 'vitest';
import { dueTurn, manualTurn, scanTurn } from '../../../src/checks/shares/turns.ts';

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

  it('of scans: each account’s first before the second of all others, and one that somebody waits for first of its kind', () => {
    const turns = [
      scanTurn({ inHand: 1, isAsked: true }),
      scanTurn({ inHand: 1, isAsked: false }),
      scanTurn({ inHand: 2, isAsked: true }),
      scanTurn({ inHand: 50, isAsked: true }),
    ];
    expect(turns).toEqual([...turns].sort((a, b) => a - b));
    expect(new Set(turns).size).toBe(turns.length);
    expect(scanTurn({ inHand: 0, isAsked: true })).toBeGreaterThan(0);
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
