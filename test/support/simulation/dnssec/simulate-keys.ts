// Runs simulated domains, drawn ones and stories, and counts what came of them.

import { type Bogus, judgeKeys } from './key-judge.ts';
import { STORIES } from './key-stories.ts';
import { type MachineUnderTest, SimulatedSignedDomain } from './simulated-signed-domain.ts';

export interface KeyTally {
  readonly violations: string[];
  readonly unreached: string[];
  readonly excused: Set<string>;
  readonly registrars: Set<string>;
  reached: number;
}

/** `isEnough`: when to end early. */
export function simulateKeys(
  seed: number,
  domains: number,
  tested: MachineUnderTest,
  isEnough: (tally: KeyTally) => boolean = () => false,
): KeyTally {
  const tally: KeyTally = {
    violations: [],
    unreached: [],
    excused: new Set(),
    registrars: new Set(),
    reached: 0,
  };
  for (let i = 0; i < domains && !isEnough(tally); i++) {
    const domain = new SimulatedSignedDomain(seed * 100_003 + i, tested);
    domain.run();
    const { violations, excused } = judgeKeys(domain.history, domain.around, domain.end);
    const { registrar } = domain.around;
    tally.registrars.add(registrar);
    for (const each of violations.slice(0, 1))
      tally.violations.push(`domain ${i} (${registrar}), ${printBogus(each)}`);
    for (const cause of excused) tally.excused.add(cause);
    if (domain.isReached) tally.reached++;
    else if (registrar !== 'never')
      tally.unreached.push(`domain ${i} (${registrar}): ${JSON.stringify(domain.machine.waiting)}`);
  }
  return tally;
}

/** What is bogus by our doing in any story. */
export function playStories(tested: MachineUnderTest): string[] {
  return STORIES.flatMap((story) => {
    const domain = new SimulatedSignedDomain(1, tested, story);
    domain.run();
    const { violations } = judgeKeys(domain.history, domain.around, domain.end);
    return violations.slice(0, 1).map((each) => `${story.name}, ${printBogus(each)}`);
  });
}

function printBogus({ at, ds, keys, data }: Bogus): string {
  return `day ${(at / 86_400_000).toFixed(2)}: ${ds} ${keys} ${data}`;
}
