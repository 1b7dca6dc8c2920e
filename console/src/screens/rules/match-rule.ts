// Decides if a rule matches a request, as edges do (docs/edge.md, "Matching").

import type { Schemas } from '../../api/client.ts';

export type Rule = Schemas['Rule'];

/** Returns the match and its groups, or undefined. */
export type FindRegex = (pattern: string, text: string) => readonly string[] | undefined;

/** A request for a proxied record. */
export interface Visit {
  readonly host: string;
  readonly path: string;
  /** Proxied records of the name that answers for the host. */
  readonly recordIds: readonly number[];
  /** Empty if unknown, as are the other members. */
  readonly country: string;
  readonly agent: string;
  readonly fingerprint: string;
}

export type Miss =
  | 'off'
  | 'record'
  | 'host'
  | 'path'
  | 'excluded'
  | 'country'
  | 'agent'
  | 'fingerprint'
  | 'earlier'
  | 'exempt';
export type Unsure = 'country' | 'agent' | 'fingerprint' | 'bots';

type Verdict =
  /** `groups`: from the first matching path, if it is a regular expression. The first element is the whole match. */
  | { readonly kind: 'match'; readonly groups: readonly string[] }
  | { readonly kind: 'miss'; readonly why: Miss }
  | { readonly kind: 'unsure'; readonly why: Unsure };

const MATCH: Verdict = { kind: 'match', groups: [] };

export function matchRule(rule: Rule, visit: Visit, find: FindRegex): Verdict {
  const where = matchPlace(rule, visit, find);
  if (where.kind !== 'match') return where;
  const client = matchClient(rule, visit);
  return client.kind === 'match' ? where : client;
}

function matchPlace(rule: Rule, { host, path, recordIds }: Visit, find: FindRegex): Verdict {
  const miss = (why: Miss): Verdict => ({ kind: 'miss', why });
  if (!rule.enabled) return miss('off');
  const { record_ids: ids, path_match_type: type } = rule;
  if (ids.length > 0 && !ids.some((id) => recordIds.includes(id))) return miss('record');
  if (!matchesHost(rule, host, find)) return miss('host');
  const match = (pattern: string) =>
    type === 'regex' ? find(pattern, path) : matchesWildcard(pattern, path) ? [] : undefined;
  let groups: readonly string[] | undefined;
  for (const pattern of rule.path_includes) {
    groups = match(pattern);
    if (groups !== undefined) break;
  }
  if (groups === undefined) return miss('path');
  if (rule.path_excludes.some((pattern) => match(pattern) !== undefined)) return miss('excluded');
  return { kind: 'match', groups };
}

function matchesHost({ host_match_type: type, host_pattern: pattern }: Rule, host: string, find: FindRegex) {
  switch (type) {
    case '':
      return true;
    case 'exact':
      return pattern === host;
    case 'wildcard':
      return matchesWildcard(pattern, host);
    default:
      return find(pattern, host) !== undefined;
  }
}

/** Compares the whole text, case-sensitively. `*` is any sequence of characters. Takes linear time. */
export function matchesWildcard(pattern: string, text: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.length - at >= last.length && text.endsWith(last);
}

function matchClient(rule: Rule, { country, agent, fingerprint }: Visit): Verdict {
  switch (rule.type) {
    case 'drop': {
      if (rule.countries.length === 0) return MATCH;
      if (country === '') return { kind: 'unsure', why: 'country' };
      const isListed = rule.countries.includes(country);
      return isListed === (rule.country_match_type === 'include') ? MATCH : { kind: 'miss', why: 'country' };
    }
    case 'bot_route': {
      if (rule.bots !== 'list') return { kind: 'unsure', why: 'bots' };
      if (agent === '') return { kind: 'unsure', why: 'agent' };
      const whole = agent.toLowerCase();
      return rule.list.some((part) => whole.includes(part.toLowerCase()))
        ? MATCH
        : { kind: 'miss', why: 'agent' };
    }
    case 'fingerprint':
      if (fingerprint === '') return { kind: 'unsure', why: 'fingerprint' };
      return rule.fingerprints.includes(fingerprint) ? MATCH : { kind: 'miss', why: 'fingerprint' };
    default:
      return MATCH;
  }
}
