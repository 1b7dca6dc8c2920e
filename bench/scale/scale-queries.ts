// Queries for many zones with three distributions, one file per round: a single file would be read from its start in every
// run, and visit the same zones again.

import type { BenchOptions } from '../part.ts';
import { writeQueries } from '../zones/query-file.ts';
import { byZipf, type Draw, evenly, recipeQuestions } from '../zones/recipe-zones.ts';

export const DRAWS = ['ten', 'zipf', 'uniform'] as const;
export type DrawName = (typeof DRAWS)[number];

export const DRAW_TITLES: Readonly<Record<DrawName, string>> = {
  ten: 'ten zones only',
  zipf: 'by Zipf’s law',
  uniform: 'evenly',
};

const QUESTIONS_EACH = 800_000; // more than a run sends

/** The file of a draw in a round. */
export type QueryFiles = (draw: DrawName, round: number) => string;

export function writeScaleQueries(zones: number, options: BenchOptions): QueryFiles {
  const draws: Record<DrawName, Draw> = { ten: tenOf(zones), zipf: byZipf(zones), uniform: evenly(zones) };
  const files = new Map<string, string>();
  return (draw, round) => {
    const name = `${draw}-${round}`;
    let file = files.get(name);
    if (file === undefined) {
      file = writeQueries(options.directory, name, recipeQuestions(draws[draw], QUESTIONS_EACH, round + 100));
      files.set(name, file);
    }
    return file;
  };
}

/** Ten zones from all over the set. */
function tenOf(zones: number): Draw {
  return (random) => Math.floor((Math.floor(random() * 10) * zones) / 10);
}
