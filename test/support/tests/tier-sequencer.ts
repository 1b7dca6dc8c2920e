// Orders the files of `npm test`, whose tiers share processes. Only sockets tests replace clocks and functions, so they follow
// the postgres tests, whose API continues in the background. Unit tests are short and come last, so that all processes end at
// about the same time.

import { BaseSequencer, type TestSpecification } from 'vitest/node';

export default class TierSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.sort((a, b) => placeOf(a) - placeOf(b));
  }
}

function placeOf({ moduleId }: TestSpecification): number {
  return [/\.postgres\.test\.ts$/, /\.sockets\.test\.ts$/, /$/].findIndex((tier) => tier.test(moduleId));
}
