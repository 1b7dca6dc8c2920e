// Searches with regular expressions of rules, by the engine that the API validates them with: RE2 syntax, in linear time.

import type { FindRegex } from './match-rule.ts';

/** The part of the package `re2js` that is used. */
interface Engine {
  compile(pattern: string): {
    matcher(text: string): { find(): boolean; groupCount(): number; group(index: number): string | null };
  };
}

/** An expression that the engine rejects matches nothing. The API stores only valid ones. */
export function regexFinder(engine: Engine): FindRegex {
  return (pattern, text) => {
    try {
      const matcher = engine.compile(pattern).matcher(text);
      if (!matcher.find()) return undefined;
      return Array.from({ length: matcher.groupCount() + 1 }, (_, i) => matcher.group(i) ?? '');
    } catch {
      return undefined;
    }
  };
}
