// Whether a rule is meant for a request: its proxied names, its host filter, its paths. The engine's time is linear, so that
// no pattern of a customer stops the proxy.

import { RE2JS } from 're2js';
import type { EdgeRule } from '../../../../src/edge/edge-rule.ts';
import type { Visit } from './visit.ts';

export function matchesRule(rule: EdgeRule, visit: Pick<Visit, 'place' | 'host' | 'plainPath'>): boolean {
  if (judgeRule(rule) !== undefined) return false;
  const { hosts, host, path } = rule;
  if (hosts !== undefined && !hosts.includes(visit.place.host)) return false;
  if (host !== undefined && !found(host.type, host.pattern, visit.host)) return false;
  const matches = (pattern: string) => found(path.type, pattern, visit.plainPath);
  return path.includes.some(matches) && !path.excludes.some(matches);
}

/** The groups of the first include that matches, when it is a regular expression. */
export function groupsOf({ path }: EdgeRule, plainPath: string): readonly string[] {
  if (path.type !== 'regex') return [];
  for (const include of path.includes) {
    const matcher = patternOf('regex', include).matcher(plainPath);
    if (!matcher.find()) continue;
    return Array.from({ length: matcher.groupCount() }, (_, i) => matcher.group(i + 1) ?? '');
  }
  return [];
}

/** Why this edge cannot do what a rule asks; undefined: it can. Engines differ in what they take. */
export function judgeRule({ host, path }: EdgeRule): string | undefined {
  const regexes = [
    ...(host?.type === 'regex' ? [host.pattern] : []),
    ...(path.type === 'regex' ? [...path.includes, ...path.excludes] : []),
  ];
  for (const regex of regexes) {
    try {
      patternOf('regex', regex);
    } catch {
      return `the regular expression ${JSON.stringify(regex)} is not one here`;
    }
  }
  return undefined;
}

type PatternType = 'exact' | 'wildcard' | 'regex';

const compiled = new Map<string, RE2JS>();

function found(type: PatternType, pattern: string, text: string): boolean {
  return patternOf(type, pattern).matcher(text).find();
}

function patternOf(type: PatternType, pattern: string): RE2JS {
  const key = `${type} ${pattern}`;
  let regex = compiled.get(key);
  if (regex === undefined) {
    regex = RE2JS.compile(type === 'regex' ? pattern : wholeOf(type, pattern));
    compiled.set(key, regex);
  }
  return regex;
}

function wholeOf(type: 'exact' | 'wildcard', pattern: string): string {
  const parts = type === 'exact' ? [pattern] : pattern.split('*');
  return `(?s)^${parts.map((part) => RE2JS.quote(part)).join('.*')}$`;
}
