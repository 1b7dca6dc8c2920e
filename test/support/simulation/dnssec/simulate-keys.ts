// Runs simulated domains, drawn ones and stories, and counts what came of them.

import { judgeKeys } from './key-judge.ts';
import { STORIES } from './key-stories.ts';
import { type MachineUnderTest, SimulatedSignedDomain } from './simulated-signed-domain.ts';

export interface KeyTally {
  readonly violations: string[];
  readonly unreached: string[];
  reached: number;
}

export function simulateKeys(seed: number, domains: number, tested: MachineUnderTest): KeyTally {
  const tally: KeyTally = { violations: [], unreached: [], reached: 0 };
  for (let i = 0; i < domains && tally.violations.length < 10; i++) {
    const domain = new SimulatedSignedDomain(seed * 100_003 + i, tested);
    const { registrar } = domain.around;
    tally.violations.push(...runToEnd(domain, `domain ${i} (${registrar})`));
    if (domain.isReached) tally.reached++;
    else if (registrar !== 'never')
      tally.unreached.push(`domain ${i} (${registrar}): ${JSON.stringify(domain.machine.waiting)}`);
  }
  return tally;
}

/** What is bogus by our doing in any story. */
export function playStories(tested: MachineUnderTest): string[] {
  return STORIES.flatMap((story) => runToEnd(new SimulatedSignedDomain(1, tested, story), story.name));
}

/** Returns the first violation. */
function runToEnd(domain: SimulatedSignedDomain, what: string): string[] {
  domain.run();
  const [first] = judgeKeys(domain.history, domain.around, domain.end);
  if (first === undefined) return [];
  const { at, ds, keys, data } = first;
  return [`${what}, day ${(at / 86_400_000).toFixed(2)}: ${ds} ${keys} ${data}`];
}
