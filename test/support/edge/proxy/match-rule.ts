// Whether a rule is meant for a request: its proxied names, its host filter, its paths.

import type { EdgeRule } from '../../../../src/edge/edge-rule.ts';
import type { Visit } from './visit.ts';

export function matchesRule(rule: EdgeRule, visit: Pick<Visit, 'place' | 'host' | 'plainPath'>): boolean {
  if (judgeRule(rule) !== undefined) return false;
  const { hosts, host, path } = rule;
  if (hosts !== undefined && !hosts.includes(visit.place.host)) return false;
  if (host !== undefined && !patternOf(host.type, host.pattern).test(visit.host)) return false;
  const matches = (pattern: string) => patternOf(path.type, pattern).test(visit.plainPath);
  return path.includes.some(matches) && !path.excludes.some(matches);
}

/** The groups of the first include that matches, when it is a regular expression. */
export function groupsOf({ path }: EdgeRule, plainPath: string): readonly string[] {
  if (path.type !== 'regex') return [];
  for (const include of path.includes) {
    const match = patternOf('regex', include).exec(plainPath);
    if (match !== null) return match.slice(1).map((group) => group ?? '');
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

const compiled = new Map<string, RegExp>();

function patternOf(type: 'exact' | 'wildcard' | 'regex', pattern: string): RegExp {
  const key = `${type} ${pattern}`;
  let regex = compiled.get(key);
  if (regex === undefined) {
    regex = compile(type, pattern);
    compiled.set(key, regex);
  }
  return regex;
}

function compile(type: 'exact' | 'wildcard' | 'regex', pattern: string): RegExp {
  if (type === 'regex') {
    const [, flags = '', rest = pattern] = /^\(\?([is]+)\)(.*)$/s.exec(pattern) ?? [];
    return new RegExp(rest, flags);
  }
  const text = pattern.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${type === 'exact' ? text.replaceAll('*', '\\*') : text.replaceAll('*', '.*')}$`, 's');
}
