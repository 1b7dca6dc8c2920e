// Finds stack traces in the notices and warnings of a log.

import { expect } from 'vitest';
import type { Program } from '../processes/program.ts';

const ERROR_LEVEL = 50;

/** Throws unless the programs have logged warnings, all of them without a stack trace. */
export function expectNoStacks(programs: readonly Pick<Program, 'log'>[]): void {
  const logs = programs.map((each) => each.log());
  expect(logs.join('\n')).toContain('"level":40');
  expect(logs.flatMap(stacksInWarnings)).toEqual([]);
}

/** Returns the lines below level 50 that contain a stack trace. `log` has lines of JSON and possibly other lines. */
function stacksInWarnings(log: string): string[] {
  return log.split('\n').filter((line) => {
    if (!line.startsWith('{')) return false;
    const { level } = JSON.parse(line) as { level: number };
    return level < ERROR_LEVEL && /"stack"|\\n +at /.test(line);
  });
}
